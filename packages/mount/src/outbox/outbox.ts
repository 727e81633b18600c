import type { Op, Time } from '@cairn/core'
import type { Place, Segments } from '../data/segments.ts'
import { encodeRecord } from './record.ts'
import { type PutBlob, sealBatch } from './seal.ts'

/** A place in the line of what a session sends, taken before what stands there is complete. */
export interface Reservation {
  readonly number: number
  /** The lease under which everything in it is acknowledged. */
  readonly epoch: number
  /** Once it is at the server. */
  readonly settled: Promise<{ readonly seq: number }>
  send(body: Uint8Array): void
}

export interface OutboxParts {
  readonly segments: Segments
  readonly reserve: () => Reservation
  readonly putBlob: PutBlob
  readonly now: () => Time
  /** Something acknowledged could not be brought to the branch: it is in a rescue layer, or the error says why not. */
  readonly onLost: (error: unknown) => void
  readonly window: Window
}

/** How much may be acknowledged and not yet at the server. Full means: writers wait. */
export interface Window {
  readonly bytes: number
  readonly ms: number
}

interface OpenBatch {
  readonly reservation: Reservation
  readonly time: Time
  readonly openedAt: number
  readonly segment: number
  readonly ops: Op[]
  bytes: number
}

/** Soon enough to count as at once, late enough for a program's next calls to ride along. */
const flushMs = 20
const batchOps = 2000
const batchBytes = 1 << 20
/** What an operation weighs in the window beside its bytes. */
const opBytes = 128
/** While so many are on their way the next one grows: the server is busy, and larger batches cost it less. */
const batchesAtOnce = 3

/**
 * What was acknowledged to programs and is on its way to the server. It stands in the spool before it is acknowledged,
 * so a daemon that crashes goes on where it was.
 */
export class Outbox {
  readonly #parts: OutboxParts
  #open: OpenBatch | undefined
  /** Sealed or being sealed, by number: not yet at the server. */
  readonly #sent = new Map<number, OpenBatch>()
  #timer: NodeJS.Timeout | undefined
  #sealing: Promise<void> = Promise.resolve()
  #pendingBytes = 0
  #settled = 0
  readonly #waiting = new Set<() => void>()

  constructor(parts: OutboxParts) {
    this.#parts = parts
  }

  get pendingOps(): number {
    let count = this.#open?.ops.length ?? 0
    for (const { ops } of this.#sent.values()) count += ops.length
    return count
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  get lastNumber(): number {
    return this.#open?.reservation.number ?? [...this.#sent.keys()].at(-1) ?? this.#settled
  }

  /** Everything up to this batch number is at the server. */
  get settled(): number {
    return this.#settled
  }

  /** When the oldest of what is not at the server was acknowledged. */
  get oldestAt(): number | undefined {
    const [oldest] = this.#sent.values()
    return (oldest ?? this.#open)?.openedAt
  }

  get isFull(): boolean {
    const { bytes, ms } = this.#parts.window
    if (this.#pendingBytes > bytes) return true
    const oldest = this.oldestAt
    return oldest !== undefined && performance.now() - oldest > ms
  }

  /** Acknowledges an operation. Gives the batch it is in, and where its bytes lie. Throws ENOSPC. */
  add(op: Op): { readonly number: number; readonly place: Place | undefined } {
    const batch = this.#open ?? this.#begin()
    const bytes = op.type === 'write' && op.data.type === 'bytes' ? op.data.bytes : undefined
    const pieces = encodeRecord({ type: 'op', op }, bytes)
    const { segment, position } = this.#parts.segments.append(pieces)
    batch.ops.push(op)
    this.#count(batch, opBytes + (bytes?.length ?? 0))
    if (batch.ops.length >= batchOps || batch.bytes >= batchBytes) this.flush()
    const place = bytes && { segment, position: position + pieces[0]!.length }
    return { number: batch.reservation.number, place }
  }

  /** Sends what there is, as far as the server keeps up. */
  flush(): void {
    if (this.#sent.size >= batchesAtOnce && !this.#isTooLarge()) return
    this.flushNow()
  }

  flushNow(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const batch = this.#open
    if (!batch) return
    this.#open = undefined
    this.#sent.set(batch.reservation.number, batch)
    void this.#send(batch)
  }

  /** Waits until all that was acknowledged so far is at the server, or known to be elsewhere. */
  async drain(): Promise<void> {
    this.flushNow()
    const waiting = [...this.#sent.values()].map(({ reservation }) => reservation.settled)
    await Promise.allSettled(waiting)
  }

  /** Once everything up to that batch is at the server. */
  async whenSettled(number: number): Promise<void> {
    if (number <= this.#settled) return
    if (this.#open?.reservation.number === number) this.flushNow()
    await this.#sent.get(number)?.reservation.settled
  }

  /** Once there is room again. Whoever waits may be called off: it looks again afterwards anyway. */
  whenRoom(): Promise<void> {
    this.flushNow()
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #begin(): OpenBatch {
    const { reserve, now, segments } = this.#parts
    const reservation = reserve()
    const time = now()
    const { number, epoch } = reservation
    const { segment } = segments.append(encodeRecord({ type: 'batch', number, epoch, time }))
    const batch = { reservation, time, openedAt: performance.now(), segment, ops: [], bytes: 0 }
    this.#open = batch
    this.#pin()
    this.#timer ??= setTimeout(() => this.flush(), flushMs)
    return batch
  }

  #count(batch: OpenBatch, bytes: number): void {
    batch.bytes += bytes
    this.#pendingBytes += bytes
  }

  #isTooLarge(): boolean {
    const batch = this.#open
    return (
      batch !== undefined && (batch.bytes >= 2 * batchBytes || batch.ops.length >= 2 * batchOps)
    )
  }

  /** In order: a batch is handed to the session only after the one before it. */
  async #send(batch: OpenBatch): Promise<void> {
    const { reservation, ops, time } = batch
    const body = sealBatch(ops, time, this.#parts.putBlob)
    const sent = this.#sealing.then(async () => reservation.send(await body))
    this.#sealing = sent.catch(() => undefined)
    try {
      await sent
      await reservation.settled
    } catch (error) {
      this.#parts.onLost(error)
    }
    this.#settle(batch)
  }

  #settle(batch: OpenBatch): void {
    this.#sent.delete(batch.reservation.number)
    this.#settled = Math.max(this.#settled, batch.reservation.number)
    this.#pendingBytes -= batch.bytes
    this.#pin()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
    if (this.#open) this.flush()
  }

  /** What the server does not have stays on the disk. */
  #pin(): void {
    const [oldest] = this.#sent.values()
    this.#parts.segments.pinFrom((oldest ?? this.#open)?.segment ?? Infinity)
  }
}
