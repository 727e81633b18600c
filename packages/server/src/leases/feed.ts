import type { Batch, Branch, LogRow, Pacer } from '@cairn/core'
import type { SessionReply } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'

/** A row of the log as sessions are sent it. */
export interface FedRow {
  readonly row: LogRow
  /** Undefined where the row was read from the log and not decoded. */
  readonly batch: Batch | undefined
  /** For every session that may see all of it: one object, so that it is encoded once. */
  readonly reply: Extract<SessionReply, { type: 'batch' }>
}

export interface FeedListener {
  /** The newest row it was sent. */
  sentSeq(): number
  /** Sends what is new. */
  forward(): Promise<void>
}

/** What slow sessions may keep in memory. They read the rest from the log. */
const keptBytesMax = 4 << 20
/**
 * How long readers wait, for each of them. Telling one takes 10 to 20 µs of CPU, most of it the kernel's: so a crowd
 * takes a quarter of a core at most, however often the branch changes, and a few readers hear at once.
 */
const waitMsEach = 0.06
const waitMsMax = 80
const atOnceMs = 1

/**
 * Tells the sessions of a branch what is new in its log. Writers hear at once: others wait for what they have seen. A
 * crowd of readers hears a moment later, of all that happened meanwhile, so that a change is answered before they are
 * told. The newest rows are in memory until all have them.
 */
export class Feed {
  readonly #branch: Branch
  readonly #clock: Clock
  readonly #pacer: Pacer
  readonly #writers = new Set<FeedListener>()
  readonly #readers = new Set<FeedListener>()
  /** INVARIANT: without gaps, in the order of the log. */
  #kept: FedRow[] = []
  #keptBytes = 0
  #isTelling = false
  #unsubscribe: (() => void) | undefined

  constructor(branch: Branch, clock: Clock, pacer: Pacer) {
    this.#branch = branch
    this.#clock = clock
    this.#pacer = pacer
  }

  /** Gives what ends it. */
  subscribe(listener: FeedListener, writes: boolean): () => void {
    const all = writes ? this.#writers : this.#readers
    all.add(listener)
    this.#unsubscribe ??= this.#branch.subscribe((batch, row) => this.#hear(batch, row))
    return () => {
      all.delete(listener)
      if (this.#writers.size + this.#readers.size > 0) return
      this.#unsubscribe?.()
      this.#unsubscribe = undefined
      this.#forget()
    }
  }

  /** The rows after that one; undefined where they are only in the log. */
  after(seq: number): readonly FedRow[] | undefined {
    const first = this.#kept[0]?.row.seq
    if (first === undefined || seq + 1 < first) return undefined
    const rows = this.#kept.slice(seq + 1 - first)
    return rows.length > 0 ? rows : undefined
  }

  #hear(batch: Batch, row: LogRow): void {
    this.#keep(batch, row)
    const told = [...this.#writers].map((writer) => writer.forward())
    void Promise.allSettled(told).then(() => this.#forgetSent())
    void this.#tellReaders()
  }

  #keep(batch: Batch, row: LogRow): void {
    if (this.#kept.length > 0 && this.#kept.at(-1)!.row.seq !== row.seq - 1) this.#forget()
    this.#kept.push(fedRow(row, batch))
    this.#keptBytes += row.bytes.length
    while (this.#keptBytes > keptBytesMax) this.#keptBytes -= this.#kept.shift()!.row.bytes.length
  }

  async #tellReaders(): Promise<void> {
    if (this.#isTelling || this.#readers.size === 0) return
    this.#isTelling = true
    const waitMs = Math.min(this.#readers.size * waitMsEach, waitMsMax)
    if (waitMs >= atOnceMs) await this.#clock.sleep(waitMs)
    // What comes from here on begins the next round.
    this.#isTelling = false
    const told: Promise<void>[] = []
    for (const reader of this.#readers) {
      told.push(reader.forward())
      if (!this.#pacer.isDue()) continue
      await this.#pacer.rest()
    }
    await Promise.allSettled(told)
    this.#forgetSent()
  }

  /** Nothing is kept that all sessions have. */
  #forgetSent(): void {
    let sent = Infinity
    for (const all of [this.#writers, this.#readers])
      for (const listener of all) sent = Math.min(sent, listener.sentSeq())
    while (this.#kept[0] && this.#kept[0].row.seq <= sent)
      this.#keptBytes -= this.#kept.shift()!.row.bytes.length
  }

  #forget(): void {
    this.#kept = []
    this.#keptBytes = 0
  }
}

export function fedRow(row: LogRow, batch?: Batch): FedRow {
  return { row, batch, reply: { type: 'batch', bytes: row.bytes } }
}
