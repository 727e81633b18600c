import { closeSync, fchmodSync, openSync, writeSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { hasCode } from './disk/errors.ts'

/** Everybody's files are in the data directory, so what is made there is for the server's user alone. */
export const privateFileMode = 0o600
export const privateDirectoryMode = 0o700
const others = 0o077

/**
 * Makes an empty file for this user alone; one that is there stays as it is. SQLite makes files that everybody may
 * read, and gives its write-ahead log the mode of the database: so the database is made before SQLite opens it.
 */
export function makePrivateFile(path: string): void {
  try {
    const file = openSync(path, 'wx', privateFileMode)
    fchmodSync(file, privateFileMode)
    closeSync(file)
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
}

/** Replaces what is in it, and takes it away from others. */
export function writePrivateFile(path: string, text: string): void {
  const file = openSync(path, 'w', privateFileMode)
  try {
    fchmodSync(file, privateFileMode)
    writeSync(file, text)
  } finally {
    closeSync(file)
  }
}

/** A warning about what older versions left open to other users of the machine; undefined where all is well. */
export async function findOpenFiles(data: string): Promise<string | undefined> {
  const isOpen = async (path: string): Promise<boolean> => ((await stat(path)).mode & others) !== 0
  if (!(await isOpen(data))) return undefined
  const open: string[] = []
  for (const name of await readdir(data)) if (await isOpen(join(data, name))) open.push(name)
  if (open.length === 0) return undefined
  const names = open.sort().join(', ')
  return `other users of this machine can read the server's data in ${data} (${names}). Run: chmod -R go-rwx ${data}`
}
