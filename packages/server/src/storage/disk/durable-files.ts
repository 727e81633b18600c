import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { hasCode, isMissing } from './errors.ts'

/** A name that was made or moved in a directory is on disk only once the directory is. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/**
 * Makes it and what is missing above it, each of them durably. Not by mkdir's own recursion, which reports a
 * read-only disk as a directory that is not there.
 */
export async function makeDirectory(path: string): Promise<void> {
  try {
    if (!(await tryMakeDirectory(path))) return
  } catch (error) {
    if (!isMissing(error)) throw error
    await makeDirectory(dirname(path))
    await tryMakeDirectory(path)
  }
  await syncDirectory(dirname(path))
}

/** False when there is one. */
export async function tryMakeDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
