import type { OpenAnswer } from './answer.ts'
import { readLines } from './lines.ts'

export interface ServerSentEvent {
  /** Where to go on after a cut: the newest id so far, also of an event without data. */
  readonly id: string
  readonly event: string
  readonly data: string
}

/** Reads a `text/event-stream`, as the HTML standard says. Events without data are given too, for their id. */
export async function* readEvents(answer: OpenAnswer): AsyncGenerator<ServerSentEvent> {
  let id = ''
  let event = ''
  let data: string[] = []
  let isEmpty = true
  for await (const line of readLines(answer)) {
    if (line === '') {
      if (!isEmpty) yield { id, event: event || 'message', data: data.join('\n') }
      event = ''
      data = []
      isEmpty = true
      continue
    }
    const { field, value } = parseField(line)
    // A comment has an empty field.
    if (field === '') continue
    isEmpty = false
    if (field === 'id' && !value.includes('\0')) id = value
    if (field === 'event') event = value
    if (field === 'data') data.push(value)
  }
}

function parseField(line: string): { field: string; value: string } {
  const colon = line.indexOf(':')
  if (colon < 0) return { field: line, value: '' }
  const value = line.slice(colon + 1)
  return { field: line.slice(0, colon), value: value.startsWith(' ') ? value.slice(1) : value }
}
