import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Where a process began: the next one goes on from there even if nothing else of its spool is left. */
export interface SessionNote {
  readonly session: string
  /** No batch of the processes before had a higher number. */
  readonly lastNumber: number
  /** The kernel was shown nothing older. */
  readonly seq: number
}

const fileName = 'session.json'

/** Undefined when nobody was here. */
export function readSession(directory: string): SessionNote | undefined {
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
  } = JSON.parse(text) as Partial<SessionNote> & Pick<SessionNote, 'session'>
  return { session, lastNumber, seq }
}

/** The whole of it or what was there before: half a note would lock out whoever comes next. */
export function writeSession(directory: string, note: SessionNote): void {
  const path = join(directory, fileName)
  writeFileSync(`${path}.new`, JSON.stringify(note), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}

/** Last of all: as long as there is anything of a spool, it belongs to a session. */
export function removeSession(directory: string): void {
  rmSync(join(directory, fileName), { force: true })
}
