import { appendFile, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Writable } from 'node:stream'

const fileName = 'daemon.log'
/** One that prints all the time, and is started again all the time, fills no disk. */
const bytesMax = 1 << 20

/**
 * Goes on in the log of a mount's directory. A large one becomes `daemon.log.1`, in the place of the one before. What
 * there is no room for is not kept: a daemon that prints must neither wait for it nor end the mount.
 */
export function openDaemonLog(directory: string): Writable {
  const path = join(directory, fileName)
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size > bytesMax) renameSync(path, `${path}.1`)
  return new Writable({
    write: (text: Uint8Array, _, done) => appendFile(path, text, { mode: 0o600 }, () => done()),
  })
}
