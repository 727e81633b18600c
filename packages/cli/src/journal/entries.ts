import { type Json, journalLimits, type NewJournalEntry } from '@cairn/protocol'
import { usageError } from '../errors.ts'

/** What every entry of a command gets that does not say otherwise. */
export interface EntryDefaults {
  readonly type?: string | undefined
  readonly source?: string | undefined
  readonly subjects: readonly string[]
}

/** Less than the server takes at once, with room for what JSON adds. */
const batchBytesMax: number = journalLimits.appendBytes - 65_536

/**
 * JSON lines as they come. Lines that arrive together go together, so that a program that tells something now and
 * then is heard at once, and a file is not sent line by line. With `isOneList` the whole input is one JSON list.
 */
export async function* readBatches(
  input: AsyncIterable<Uint8Array | string>,
  defaults: EntryDefaults,
  { isOneList, isWhole }: { readonly isOneList: boolean; readonly isWhole: boolean },
): AsyncGenerator<NewJournalEntry[]> {
  const reader = new LineReader(defaults)
  let all = ''
  const decoder = new TextDecoder()
  for await (const chunk of input) {
    const text = typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
    // Under a key of the user's the same input must be cut in the same places.
    if (isOneList || isWhole) all += text
    else yield* cut(reader.take(text))
  }
  if (isOneList) return yield* cut(parseList(all, defaults))
  yield* cut([...reader.take(all), ...reader.end()])
}

class LineReader {
  readonly #defaults: EntryDefaults
  #rest = ''
  #line = 0

  constructor(defaults: EntryDefaults) {
    this.#defaults = defaults
  }

  take(text: string): NewJournalEntry[] {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop()!
    return lines.flatMap((line) => this.#parse(line))
  }

  end(): NewJournalEntry[] {
    return this.#parse(this.#rest)
  }

  #parse(line: string): NewJournalEntry[] {
    this.#line++
    if (line.trim() === '') return []
    return [
      withDefaults(parseJson(line, `line ${this.#line}`), this.#defaults, `line ${this.#line}`),
    ]
  }
}

function parseList(text: string, defaults: EntryDefaults): NewJournalEntry[] {
  const list = parseJson(text, 'standard input')
  if (!Array.isArray(list))
    throw usageError('read standard input', 'it is no JSON list', 'Leave --json-array away.')
  return (list as Json[]).map((each, index) => withDefaults(each, defaults, `entry ${index + 1}`))
}

function withDefaults(value: Json, defaults: EntryDefaults, where: string): NewJournalEntry {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw usageError(`take ${where}`, 'it is no JSON object', 'Give one such as {"type":"note"}.')
  const entry = value as unknown as Partial<NewJournalEntry>
  const { type, source, subjects } = defaults
  const named = entry.type ?? type
  if (named === undefined)
    throw usageError(`take ${where}`, 'it has no type', 'Give "type" in it, or --type for all.')
  const all = [...(entry.subjects ?? []), ...subjects]
  return {
    ...(source === undefined ? {} : { source }),
    ...entry,
    type: named,
    ...(all.length === 0 ? {} : { subjects: all }),
  }
}

function parseJson(text: string, where: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw usageError(`read ${where}`, `it is no JSON (${reason})`, 'Give one JSON object a line.')
  }
}

function* cut(entries: readonly NewJournalEntry[]): Generator<NewJournalEntry[]> {
  let batch: NewJournalEntry[] = []
  let bytes = 0
  for (const entry of entries) {
    const size = Buffer.byteLength(JSON.stringify(entry)) + 1
    const isFull = batch.length === journalLimits.entriesPerAppend || bytes + size > batchBytesMax
    if (isFull && batch.length > 0) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(entry)
    bytes += size
  }
  if (batch.length > 0) yield batch
}
