import { createWriteStream, renameSync, statSync, type WriteStream } from 'node:fs'
import { join } from 'node:path'

const fileName = 'daemon.log'
/** One that prints all the time, and is started again all the time, fills no disk. */
const bytesMax = 1 << 20

/** Goes on in the log of a mount's directory. A large one becomes `daemon.log.1`, in the place of the one before. */
export function openDaemonLog(directory: string): WriteStream {
  const path = join(directory, fileName)
  const { size } = statSync(path, { throwIfNoEntry: false }) ?? { size: 0 }
  if (size > bytesMax) renameSync(path, `${path}.1`)
  return createWriteStream(path, { flags: 'a', mode: 0o600 })
}
