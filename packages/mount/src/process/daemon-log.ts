import { appendFile, existsSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'

const fileName = 'daemon.log'
/** Together with the one before, a log takes twice as much of the disk at most. */
const bytesMax = 1 << 20

export function logPath(directory: string): string {
  return join(directory, fileName)
}

/** Where the log of a mount is; undefined where nothing has been printed. */
export function findDaemonLog(directory: string): string | undefined {
  const path = logPath(directory)
  return existsSync(path) ? path : undefined
}

/**
 * Appends to the log in a mount's directory. A log that has become too large is renamed to `daemon.log.1`, which
 * replaces the one before. Text that finds no room on the disk is dropped: a daemon that prints must neither wait for
 * the disk nor end the mount.
 */
export function openDaemonLog(directory: string): Writable {
  const path = logPath(directory)
  let { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  const write = (text: Uint8Array, _: unknown, done: () => void): void => {
    if (size > bytesMax) size = begunAnew(path) ? 0 : size
    size += text.length
    appendFile(path, text, { mode: 0o600 }, () => done())
  }
  return new Writable({ write })
}

function begunAnew(path: string): boolean {
  try {
    renameSync(path, `${path}.1`)
    return true
  } catch (error) {
    // A user has removed it.
    return (error as NodeJS.ErrnoException).code === 'ENOENT'
  }
}
