import type { Batch } from '@cairn/core'

const notesMax = 100

/** What happened, for whoever looks at a mount's status: the newest of it. */
export class Notes {
  readonly errors: string[] = []
  /** What others changed lately. */
  readonly log: string[] = []
  /** Where late writes of a lost lease went. Kept whole: somebody has to look at them. */
  readonly rescues: string[] = []

  noteError(error: unknown, operation: string): void {
    const text = error instanceof Error ? error.message : String(error)
    push(this.errors, `${new Date().toISOString()} ${operation} ${text}`.replace('  ', ' '))
  }

  noteBatch({ seq, time, actor, body }: Batch): void {
    const what = body.type === 'ops' ? `${body.ops.length} operations` : body.type
    push(this.log, `${new Date(time.sec * 1000).toISOString()} ${seq} ${actor}: ${what}`)
  }
}

function push(notes: string[], note: string): void {
  notes.push(note)
  if (notes.length > notesMax) notes.shift()
}
