import { appendFileSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isClosedState, type SentBatch } from '@cairn/core'
import {
  formatRescueOutcome,
  isCairnError,
  parseRescueOutcome,
  type RescueOutcome,
} from '@cairn/protocol'

const notesMax = 100
const fileName = 'rescues'

/** The newest events, for a mount's status. */
export class Notes {
  readonly errors: string[] = []
  /** What others changed lately. */
  readonly log: string[] = []
  /**
   * Where late writes of a lost lease went. Kept whole, and for the next process, too, because a
   * user must look at them.
   */
  readonly rescues: RescueOutcome[]
  /** As far as was heard: the layer was committed or abandoned, and takes no more writes. */
  isOver = false
  readonly #path: string

  /** With the mount's own directory on the disk. */
  constructor(directory: string) {
    this.#path = join(directory, fileName)
    this.rescues = readLines(this.#path).flatMap(readOutcome)
  }

  noteError(error: unknown, operation: string): void {
    if (isCairnError(error, 'layer_closed')) this.isOver = true
    const text = error instanceof Error ? error.message : String(error)
    push(this.errors, `${new Date().toISOString()} ${operation} ${text}`.replace('  ', ' '))
  }

  noteBatch({ seq, time, actor, body }: SentBatch): void {
    if (body.type === 'state') this.isOver = isClosedState(body.state)
    const what = body.type === 'ops' ? `${body.ops.length} operations` : body.type
    push(this.log, `${new Date(time.sec * 1000).toISOString()} ${seq} ${actor}: ${what}`)
  }

  /** A process that died before it had an answer asks once more, and is told the same. */
  noteRescue(outcome: RescueOutcome): void {
    if (this.rescues.some(({ layer }) => layer === outcome.layer)) return
    this.rescues.push(outcome)
    try {
      appendFileSync(this.#path, `${formatRescueOutcome(outcome)}\n`, { mode: 0o600 })
    } catch {
      // A full disk: this process knows it all the same.
    }
  }

  /** The mount is over. */
  remove(): void {
    rmSync(this.#path, { force: true })
  }
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n').slice(0, -1)
  } catch {
    return []
  }
}

function push(notes: string[], note: string): void {
  notes.push(note)
  if (notes.length > notesMax) notes.shift()
}

/** A damaged line must not keep the workspace from being mounted. */
function readOutcome(line: string): readonly RescueOutcome[] {
  try {
    return [parseRescueOutcome(line)]
  } catch (error) {
    if (isCairnError(error, 'malformed')) return []
    throw error
  }
}
