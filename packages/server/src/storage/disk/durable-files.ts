import { mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { privateDirectoryMode } from '../private-files.ts'
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
 * read-only disk as a directory that is not there. Those that are there keep their mode.
 */
export async function makeDirectory(
  path: string,
  mode: number = privateDirectoryMode,
): Promise<void> {
  try {
    if (!(await tryMakeDirectory(path, mode))) return
  } catch (error) {
    if (!isMissing(error)) throw error
    await makeDirectory(dirname(path), mode)
    await tryMakeDirectory(path, mode)
  }
  await syncDirectory(dirname(path))
}

/** False when there is one. */
export async function tryMakeDirectory(
  path: string,
  mode: number = privateDirectoryMode,
): Promise<boolean> {
  try {
    await mkdir(path, { mode })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}
