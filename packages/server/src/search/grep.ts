import { CairnError, type Name } from '@cairn/protocol'
import { type FileBatch, type PlacedFile, readBatches } from './batches.ts'
import type { FilePart, ScanCounts, Scanned } from './scan-messages.ts'
import type { OpenSearch } from './scan-pool.ts'
import { elapsedOf, statsOf } from './scan/events.ts'
import type { Narrowing } from './narrowed-files.ts'
import type { SearchStores } from './search-target.ts'

/** What one request may cost. */
export interface GrepBudget {
  readonly timeMs: number
  readonly bytes: number
  readonly lines: number
  /** False where no cursor says where a search is: in several attempts. */
  readonly isResumable: boolean
}

/** Why an answer ends before everything was searched. */
export type Truncated = 'time' | 'bytes' | 'lines'

/** Behind what a search goes on: a file, or with a line in the middle of it. */
export interface GrepPosition {
  readonly path: readonly Name[]
  readonly line?: number
}

/** Of text in one request; single lines may be long. */
const textMax = 32 << 20
/** Batches that are scanned, in order: while threads are at some, the next is read. */
const batchesAhead = 3

/** Searches files and gives the events of `rg --json`, at last a summary. */
export class Grep {
  readonly #stores: SearchStores
  readonly #search: OpenSearch
  readonly #budget: GrepBudget
  readonly #skipped: Narrowing['skipped']
  readonly #beganMs = performance.now()
  readonly #totals = { files: 0, filesWithMatch: 0, bytes: 0, matchedLines: 0, matches: 0 }
  #engine: string
  #lines = 0
  #printed = 0
  #truncated: Truncated | undefined
  #position: GrepPosition | undefined
  /** Files whose further bytes are not needed. */
  readonly #done = new Set<PlacedFile>()

  constructor(
    stores: SearchStores,
    search: OpenSearch,
    budget: GrepBudget,
    skipped: Narrowing['skipped'] = { files: 0, bytes: 0 },
  ) {
    this.#stores = stores
    this.#skipped = skipped
    this.#search = search
    this.#budget = budget
    this.#engine = search.engine
  }

  async *run(
    files: AsyncIterable<PlacedFile>,
    gone: AbortSignal | undefined,
  ): AsyncGenerator<string> {
    const underWay: { batch: FileBatch; scanned: Promise<Scanned> }[] = []
    const batches = readBatches(this.#stores, files, (file) => this.#done.has(file))
    try {
      for await (const batch of batches) {
        if (gone?.aborted === true) return
        const scanned = this.#search.scan(batch.pieces, this.#limits())
        scanned.catch(() => undefined)
        underWay.push({ batch, scanned })
        if (underWay.length < batchesAhead && !isLarge(batch)) continue
        const next = underWay.shift()!
        yield this.#take(next.batch, await next.scanned)
        if (this.#truncated) break
      }
      for (const { batch, scanned } of underWay)
        if (!this.#truncated) yield this.#take(batch, await scanned)
      yield this.#summary()
    } finally {
      this.#search.close()
    }
  }

  #limits(): { linesMax: number; textMax: number; timeMs: number } {
    const left = this.#budget.timeMs - (performance.now() - this.#beganMs)
    return { linesMax: this.#budget.lines - this.#lines, textMax, timeMs: Math.max(1, left) }
  }

  #take({ pieces, files }: FileBatch, scanned: Scanned): string {
    const { counts, stop, text } = scanned
    for (const field of Object.keys(this.#totals) as (keyof ScanCounts)[])
      this.#totals[field] += counts[field]
    this.#engine = scanned.engine
    this.#lines += scanned.lines
    this.#printed += text.length
    const last = files.at(-1)!
    if (scanned.isFileDone && !pieces.at(-1)!.isLast) this.#done.add(last)
    if (stop) this.#end(stop.why, positionAt(pieces, files, stop))
    else if (performance.now() - this.#beganMs > this.#budget.timeMs)
      this.#end('time', positionAfter(pieces, files))
    else if (this.#totals.bytes > this.#budget.bytes)
      this.#end('bytes', positionAfter(pieces, files))
    return text
  }

  #end(why: Truncated, position: GrepPosition | undefined): void {
    this.#truncated = why
    if (this.#budget.isResumable) this.#position = position
  }

  #summary(): string {
    const elapsedMs = performance.now() - this.#beganMs
    const files = this.#totals.files + this.#skipped.files
    const bytes = this.#totals.bytes + this.#skipped.bytes
    const stats = statsOf({ ...this.#totals, files, bytes, bytesPrinted: this.#printed, elapsedMs })
    const next = this.#position && writeCursor(this.#position)
    const data = {
      elapsed_total: elapsedOf(elapsedMs),
      stats,
      engine: this.#engine,
      truncated: this.#truncated ?? null,
      ...(next === undefined ? {} : { next }),
    }
    return `${JSON.stringify({ type: 'summary', data })}\n`
  }
}

/** The next piece of a large file is sent when the thread has said that it needs it. */
function isLarge({ pieces }: FileBatch): boolean {
  return !pieces.at(-1)!.isLast
}

function positionAt(
  pieces: readonly FilePart[],
  files: readonly PlacedFile[],
  { piece, line }: NonNullable<Scanned['stop']>,
): GrepPosition {
  const path = files[piece]!.names
  return line === undefined ? { path } : { path, line }
}

/** A file that is not at its end is begun anew: nothing of it is left out. */
function positionAfter(
  pieces: readonly FilePart[],
  files: readonly PlacedFile[],
): GrepPosition | undefined {
  const { names, afterLine } = files.at(-1)!
  return pieces.at(-1)!.isLast ? { path: names } : { path: names, line: afterLine }
}

function writeCursor({ path, line }: GrepPosition): string {
  const text = `${line ?? ''}/${path.join('/')}`
  return Buffer.from(text, 'latin1').toString('base64url')
}

export function readCursor(cursor: string): GrepPosition {
  const text = Buffer.from(cursor, 'base64url').toString('latin1')
  const match = /^(\d{0,15})\/([^]+)$/.exec(text)
  if (!match)
    throw new CairnError('invalid_argument', {
      what: 'go on with the search',
      reason: 'no search gave this cursor',
      subject: 'cursor',
    })
  const path = match[2]!.split('/') as Name[]
  return match[1] === '' ? { path } : { path, line: Number(match[1]) }
}
