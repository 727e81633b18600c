import type { Op, Time, WriteOp } from '@cairn/core'
import { FsError, type Ino, isFsError } from '@cairn/protocol'
import type { SegmentPlace, Segments } from '../data/segments.ts'
import { encodeOpRecord, encodeRecord, withBytes } from '../data/spool-record.ts'
import {
  batchBytesMax,
  batchOpsMax,
  headOf,
  inodesOf,
  lengthOf,
  newBatch,
  noteFile,
  type OpenBatch,
} from './open-batch.ts'
import type { DeferredBatch } from './deferred-queue.ts'
import { Deferrals, type DeferralsParts } from './deferrals.ts'
import { type PutBlob, Sealer } from './seal.ts'
import type { Reservation } from '../session/options.ts'
import { isKept, isRescued } from '../session/rescue.ts'
import type { Unseen } from './unseen.ts'

export interface OutboxParts {
  readonly segments: Segments
  readonly reserve: () => Reservation
  /** The same for what was acknowledged under that lease, whether or not it is over. */
  readonly reserveUnder: (epoch: number) => Reservation
  readonly deferrals: Omit<DeferralsParts, 'segments' | 'lineUp'>
  /** Hears of each batch. */
  readonly unseen: Pick<Unseen, 'add'>
  readonly putBlob: PutBlob
  readonly now: () => Time
  /** Something acknowledged is not on the branch as it was, but in a rescue layer. */
  readonly onRescued: (error: unknown) => void
  /** Nor can it be brought there. It stays in the spool, and the session is not to be relied on any more. */
  readonly onRefused: (error: unknown) => void
  readonly window: Window
  /** No batch is to be larger than this, where the link carries no more; unlimited unless given. */
  readonly batchBytes?: () => number
}

interface DrainOptions {
  /** What waits in local directories goes on waiting. */
  readonly keepsLocal?: boolean
}

/** How much may be acknowledged and not yet at the server. Full means: writers wait. */
export interface Window {
  readonly bytes: number
  readonly ms: number
  /** How long what a busy program does may wait, so that batches are larger and cost the server less. */
  readonly busyMs: number
}

/** The number of an operation that is in no batch yet. */
export const deferredNumber = 0

/** Soon enough to count as at once, late enough for a program's next calls to ride along. */
const flushMs = 20
/** While a program changes so much, what it did waits, but for no more than this part of the window. */
const busyOps = 50
const busyPart = 3 / 4
/** A file up to this size goes in one batch, if its program writes it at once: after a loss it is whole or absent. */
const wholeBytes = 1 << 20
/** What an operation weighs in the window beside what is written down of it. */
const opBytes = 128
/** A full disk is tried again so often. */
const retryMs = 500
/** For so long after another client changed something, the next one may be on its way. */
const besideMs = 1000
/** Then batches are no larger: what others ask for waits behind them, and one of 2 MB takes the server 15 to 40 ms. */
const besideBytesMax = 256 << 10
/** While so many are on their way the next one grows: the server is busy, and larger batches cost it less. */
const batchesAtOnce = 3

/**
 * What was acknowledged to programs and is on its way to the server. It stands in the spool before it is acknowledged,
 * so a daemon that crashes goes on where it was.
 */
export class Outbox {
  readonly #parts: OutboxParts
  #open: OpenBatch | undefined
  /** Complete, by number: not yet at the server. */
  readonly #closed = new Map<number, OpenBatch>()
  /** Those of them that have not been sent. */
  readonly #held: OpenBatch[] = []
  /** Everything held up to this number is to set out as soon as the server keeps up. */
  #dueTo = 0
  /** A timer will soon check whether there is something to send. */
  #isWatched = false
  /** Operations since the last check whether a program is busy, and the result of that check. */
  #opsSince = 0
  #isBusy = false
  /** What the server does not have is older than the window. Looked at now and then: a clock for each change is dear. */
  #isLate = false
  /** When another client last changed something. */
  #othersAt = -Infinity
  #sealing: Promise<void> = Promise.resolve()
  /** At rest. */
  readonly #sealers: Sealer[] = []
  #pendingBytes = 0
  #settled = 0
  readonly #waiting = new Set<() => void>()
  /** Files with writes in a rescue layer that was kept, not reported yet. */
  readonly #elsewhere = new Set<Ino>()

  /** Changes of directories whose class says that they wait. */
  readonly deferrals: Deferrals

  constructor(parts: OutboxParts) {
    this.#parts = parts
    const { segments, deferrals } = parts
    this.deferrals = new Deferrals({
      ...deferrals,
      segments,
      lineUp: (batch) => this.#lineUp(batch),
    })
  }

  get pendingOps(): number {
    let count = this.#open?.ops.length ?? 0
    for (const { ops } of this.#closed.values()) count += ops.length
    return count
  }

  get pendingBytes(): number {
    return this.#pendingBytes
  }

  /** Everything up to this batch number is at the server. */
  get settled(): number {
    // One that is refused stays, and those behind it may have gone.
    const [oldest] = this.#closed.keys()
    return oldest === undefined ? this.#settled : Math.min(this.#settled, oldest - 1)
  }

  /** How long the oldest of what is not at the server has been waiting. */
  get pendingMs(): number {
    const oldest = this.#oldestAt
    return oldest === undefined ? 0 : Math.round(performance.now() - oldest)
  }

  get #oldestAt(): number | undefined {
    const [oldest] = this.#closed.values()
    return (oldest ?? this.#open)?.openedAt
  }

  get isFull(): boolean {
    return this.#isLate || this.#pendingBytes > this.#parts.window.bytes
  }

  /**
   * Acknowledges an operation, for the kernel's request with that number. Gives the batch it is in, and where its bytes
   * lie: they are copied there, and the caller's are the caller's. Throws ENOSPC.
   */
  add(
    op: Op,
    request: number,
    directories: readonly Ino[] = [],
    toolCall?: string,
  ): { readonly number: number; readonly place: SegmentPlace | undefined } {
    if (this.#open && this.#endsBefore(this.#open, op, toolCall)) this.#close(this.#open)
    const batch = this.#open ?? this.#begin(toolCall)
    const { segments } = this.#parts
    const bytes = op.type === 'write' && op.data.type === 'bytes' ? op.data.bytes : undefined
    const pieces = encodeOpRecord(op, request, bytes)
    if (batch.ops.length === 0) pieces.unshift(...headOf(batch))
    const { segment, position } = segments.append(pieces)
    // Its bytes are where they were just written: where they were before is the kernel's again.
    const kept = bytes ? withBytes(op as WriteOp, segments.tail(bytes.length)) : op
    if (batch.ops.push(kept) === 1) this.#pinTo(batch, segment)
    for (const ino of directories) batch.directories.add(ino)
    const length = lengthOf(pieces)
    this.#count(batch, opBytes + length)
    noteFile(batch, op)
    if (batch.ops.length >= batchOpsMax || batch.bytes >= batch.bytesMax) this.#end(batch)
    const place = bytes && { segment, position: position + length - bytes.length }
    return { number: batch.reservation.number, place }
  }

  /** A batch is of one tool call, and mostly ends between two files. */
  #endsBefore(open: OpenBatch, op: Op, toolCall: string | undefined): boolean {
    return open.toolCall !== toolCall || (op.type === 'create' && open.isDue)
  }

  /** Acknowledges an operation that waits in its class. As `add`, and it is in no batch yet. */
  defer(
    ...[of, op, request, directories]: Parameters<Deferrals['add']>
  ): ReturnType<Outbox['add']> {
    const place = this.deferrals.add(of, op, request, directories)
    this.#pin()
    return { number: deferredNumber, place }
  }

  #lineUp({ class: of, epoch, first, ops, directories, segment, bytes }: DeferredBatch): number {
    if (this.#open) this.#close(this.#open)
    const reservation = this.#parts.reserveUnder(epoch)
    const { number } = reservation
    const time = this.#parts.now()
    const count = ops.length
    this.#parts.unseen.add(number, directories)
    const note = encodeRecord({ type: 'released', number, epoch, time, class: of, first, count })
    this.#pendingBytes += bytes
    this.#close({
      ...newBatch(reservation, time, { bytesMax: batchBytesMax, wholeBytesMax: batchBytesMax }),
      ops,
      directories,
      segment,
      bytes,
      note,
    })
    this.#sendHeld()
    return number
  }

  #flushUnlessBusy(): void {
    this.#isWatched = false
    this.#lookAtAge()
    this.#isBusy = this.#opsSince >= busyOps
    this.#opsSince = 0
    const isFilling = this.#open?.isFilling ?? false
    if (this.#open) this.#open.isFilling = false
    if (this.#isHoldingTooMuch()) this.#flushSoon(isFilling)
    else if (!this.#isBusy && !isFilling) this.flush()
    if (this.#open || this.#held.length > 0) this.#lookLater()
  }

  /** What is complete goes. The open batch ends between two files, if that comes before the next look. */
  #flushSoon(isFilling: boolean): void {
    if (!isFilling || !this.#open || this.#open.isDue) return this.flush()
    this.#open.isDue = this.#held.length === 0
    this.#sendHeld()
  }

  /** With the file that is being written, unless that is too large. */
  #end(batch: OpenBatch): void {
    if (!batch.isFilling || batch.bytes >= batch.wholeBytesMax) this.#close(batch)
    else batch.isDue = true
  }

  #lookAtAge(): void {
    const oldest = this.#oldestAt
    this.#isLate = oldest !== undefined && performance.now() - oldest > this.#parts.window.ms
  }

  #isHoldingTooMuch(): boolean {
    const oldest = this.#held[0] ?? this.#open
    const age = oldest ? performance.now() - oldest.openedAt : 0
    return (
      age >= this.#parts.window.busyMs || this.#pendingBytes > this.#parts.window.bytes * busyPart
    )
  }

  #lookLater(): void {
    if (this.#isWatched) return
    this.#isWatched = true
    setTimeout(() => this.#flushUnlessBusy(), flushMs)
  }

  /** Sends what there is, as far as the server keeps up. */
  flush(): void {
    if (this.#open && this.#inFlight < batchesAtOnce) this.#close(this.#open)
    this.#sendHeld()
  }

  #sendHeld(): void {
    this.#dueTo = this.#held.at(-1)?.reservation.number ?? this.#dueTo
    this.#sendDue()
  }

  flushNow(): void {
    if (this.#open) this.#close(this.#open)
    for (const batch of this.#held.splice(0)) void this.#send(batch)
  }

  #close(batch: OpenBatch): void {
    this.#open = undefined
    this.#closed.set(batch.reservation.number, batch)
    this.#held.push(batch)
  }

  get #inFlight(): number {
    return this.#closed.size - this.#held.length
  }

  #sendDue(): void {
    while (this.#inFlight < batchesAtOnce) {
      const batch = this.#held[0]
      if (!batch || batch.reservation.number > this.#dueTo) return
      this.#held.shift()
      void this.#send(batch)
    }
  }

  /**
   * Waits until all that was acknowledged so far is at the server, or known to be elsewhere; with `keepsLocal`, all but
   * what waits in local directories.
   */
  async drain({ keepsLocal = false }: DrainOptions = {}): Promise<void> {
    this.flushNow()
    if (!keepsLocal) this.deferrals.release(['local'])
    const waiting = [...this.#closed.values()].map(({ reservation }) => reservation.settled)
    await Promise.allSettled(waiting)
  }

  /** Waits until what was acknowledged in these directories is at the server, or known to be elsewhere. */
  async whenSent(inos: readonly Ino[]): Promise<void> {
    const isMeant = ({ directories }: OpenBatch): boolean =>
      inos.some((ino) => directories.has(ino))
    this.deferrals.releaseBefore(inos)
    const pending = [...this.#closed.values(), ...(this.#open ? [this.#open] : [])].filter(isMeant)
    if (pending.length === 0) return
    this.flushNow()
    await Promise.allSettled(pending.map(({ reservation }) => reservation.settled))
  }

  /** As `drain`, for a caller that needs its writes on the branch: EIO when they went elsewhere. */
  async sync(): Promise<void> {
    this.flushNow()
    try {
      await Promise.all([...this.#closed.values()].map(({ reservation }) => reservation.settled))
    } catch {
      throw new FsError('EIO')
    }
  }

  /** Once everything up to that batch is at the server. */
  async whenSettled(number: number): Promise<void> {
    if (number <= this.#settled) return
    this.flushNow()
    await this.#closed.get(number)?.reservation.settled
  }

  /**
   * Resolves once there is room again. A waiting caller may be cancelled: it checks again
   * afterwards anyway.
   */
  whenRoom(): Promise<void> {
    this.flushNow()
    return new Promise((resolve) => this.#waiting.add(resolve))
  }

  #begin(toolCall: string | undefined): OpenBatch {
    const { reserve, now, unseen } = this.#parts
    const batch = newBatch(reserve(), now(), this.#size(), toolCall)
    unseen.add(batch.reservation.number, batch.directories)
    this.#open = batch
    this.#lookAtAge()
    this.#lookLater()
    return batch
  }

  #size(): Pick<OpenBatch, 'bytesMax' | 'wholeBytesMax'> {
    const isBeside = performance.now() - this.#othersAt < besideMs
    const most = isBeside ? besideBytesMax : batchBytesMax
    const link = this.#parts.batchBytes?.() ?? Infinity
    return link < most
      ? { bytesMax: link, wholeBytesMax: link }
      : { bytesMax: most, wholeBytesMax: most + wholeBytes }
  }

  /** Another client changed something. */
  noteOthers(): void {
    this.#othersAt = performance.now()
  }

  #pinTo(batch: OpenBatch, segment: number): void {
    batch.segment = segment
    this.#pin()
  }

  #count(batch: OpenBatch, bytes: number): void {
    this.#opsSince++
    batch.bytes += bytes
    this.#pendingBytes += bytes
  }

  /** In order: a batch is handed to the session only after the one before it. */
  async #send(batch: OpenBatch): Promise<void> {
    const { reservation } = batch
    const sealer = this.#sealers.pop() ?? new Sealer()
    const body = sealer.seal(batch, this.#parts.putBlob)
    const sent = this.#sealing.then(async () => {
      await this.#write(batch.note)
      reservation.send(await body)
    })
    this.#sealing = sent.catch(() => undefined)
    try {
      await sent
      await reservation.settled
      if (this.#sealers.length < batchesAtOnce) this.#sealers.push(sealer)
    } catch (error) {
      if (!isRescued(error)) return this.#parts.onRefused(error)
      if (isKept(error)) for (const ino of inodesOf(batch.ops)) this.#elsewhere.add(ino)
      this.#parts.onRescued(error)
    }
    this.#settle(batch)
  }

  /** A batch that the spool does not have under its number would be sent twice after a crash. */
  async #write(note: readonly Uint8Array[] | undefined): Promise<void> {
    for (let isWritten = note === undefined; !isWritten;)
      try {
        this.#parts.segments.append(note!)
        isWritten = true
      } catch (error) {
        if (!isFsError(error, 'ENOSPC')) throw error
        await new Promise((resolve) => setTimeout(resolve, retryMs))
      }
  }

  /** Whether something of it went elsewhere since this was last asked. */
  takeElsewhere(ino: Ino): boolean {
    return this.#elsewhere.delete(ino)
  }

  #settle(batch: OpenBatch): void {
    this.#closed.delete(batch.reservation.number)
    this.#settled = Math.max(this.#settled, batch.reservation.number)
    this.#pendingBytes -= batch.bytes
    this.#lookAtAge()
    this.#pin()
    for (const wake of this.#waiting) wake()
    this.#waiting.clear()
    this.#sendDue()
    if (this.#open && !this.#isBusy) this.flush()
  }

  /** What the server does not have stays on the disk. */
  #pin(): void {
    let first = Math.min(this.#open?.segment ?? Infinity, this.deferrals.segment)
    for (const { segment } of this.#closed.values()) first = Math.min(first, segment)
    this.#parts.segments.pinFrom(first)
  }
}
