import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a process began: the next one goes on from there even if nothing else of its spool is left. */
export interface SessionFile {
  readonly session: string
  /** No batch of the processes before had a higher number. */
  readonly lastNumber: number
  /** The kernel was shown nothing older. */
  readonly seq: number
}

const fileName = 'session.json'
const retryMs = 500

/** Undefined without an earlier process. */
export function readSession(directory: string): SessionFile | undefined {
  let text: string
  try {
    text = readFileSync(join(directory, fileName), 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  // One that was written before there were numbers in it; then its spool has them.
  const {
    session,
    lastNumber = 0,
    seq = 0,
  } = JSON.parse(text) as Partial<SessionFile> & Pick<SessionFile, 'session'>
  return { session, lastNumber, seq }
}

/** The whole of it or what was there before: half a note would lock out the next process. */
export function writeSession(directory: string, note: SessionFile): void {
  const path = join(directory, fileName)
  writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** As soon as the disk has room. Without it nothing may be sent: the next process would use the same numbers again. */
export async function writeSessionWhenRoom(
  directory: string,
  note: SessionFile,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  await whenRoom(() => writeSession(directory, note), sleep)
}

/** Tries again while the disk is full. */
export async function whenRoom(
  write: () => void,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  for (;;)
    try {
      return write()
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error
      await sleep(retryMs)
    }
}

/** Last of all: as long as there is anything of a spool, it belongs to a session. */
export function removeSession(directory: string): void {
  rmSync(join(directory, fileName), { force: true })
}
