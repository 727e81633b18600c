import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { CairnError } from '@cairn/protocol'
import { diskError } from './disk/errors.ts'
import { makePrivateFile, writePrivateFile } from './private-files.ts'
import { sqliteError } from './sqlite/errors.ts'
import { sqliteFailure } from './sqlite/transactions.ts'

const sqliteBusy = 5

/**
 * Keeps a second server out of a data directory. An empty SQLite file is locked for as long as the process lives:
 * Node has no flock, and a file that only holds a process id would outlive a crash.
 */
export class DirectoryLock {
  readonly #lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.#lock = lock
  }

  /** The directory must be there. Rejects with `storage_misconfigured` when a process, this one too, has it. */
  static take(directory: string): DirectoryLock {
    const path = join(directory, 'lock')
    const pidPath = join(directory, 'pid')
    let lock: DatabaseSync | undefined
    try {
      makePrivateFile(path)
      lock = new DatabaseSync(path)
      lock.exec('BEGIN EXCLUSIVE')
      writePrivateFile(pidPath, `${process.pid}\n`)
      return new DirectoryLock(lock)
    } catch (error) {
      lock?.close()
      throw lockError(directory, pidPath, error)
    }
  }

  close(): void {
    this.#lock.close()
  }
}

function lockError(directory: string, pidPath: string, error: unknown): unknown {
  const failure = sqliteFailure(error)
  if (failure.errcode === undefined) return diskError('write', pidPath, error)
  if ((failure.errcode & 0xff) !== sqliteBusy) return sqliteError(directory, 'lock', failure)
  return new CairnError('storage_misconfigured', {
    what: `open ${directory}`,
    reason: `the server with process id ${readPid(pidPath)} has it open`,
    subject: directory,
  })
}

function readPid(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return 'unknown'
  }
}
