import type { Op, WriteOp } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { batchBytesMax, batchOpsMax } from './open-batch.ts'
import type { OnlyHere } from '../mount-status.ts'
import type { SegmentPlace, Segments } from '../data/segments.ts'
import { type DeferringClass, encodeDeferredRecord, withBytes } from '../data/spool-record.ts'

/** Operations that leave together. */
export interface DeferredBatch {
  readonly class: DeferringClass
  /** The lease under which they were acknowledged. */
  readonly epoch: number
  /** The first one's number among all that were ever deferred in this class. */
  readonly first: number
  readonly ops: Op[]
  readonly directories: Set<Ino>
  readonly segment: number
  readonly bytes: number
}

interface Item {
  readonly op: Op
  readonly directories: readonly Ino[]
  readonly segment: number
  readonly bytes: number
}

/** What an operation weighs beside what the spool has of it. */
const opBytes = 128

/**
 * Acknowledged changes of one class of directories, which stay in the spool until they are released. They may leave in
 * any order with other changes, because no other change concerns the same directories: see `directoriesOf`. The caller
 * releases them before one does.
 */
export class DeferredQueue {
  readonly class: DeferringClass
  readonly #segments: Segments
  #items: Item[] = []
  readonly #directories = new Set<Ino>()
  readonly #inodes = new Set<Ino>()
  #epoch = 0
  #released: number
  #bytes = 0
  #firstAt = 0
  #lastAt = 0

  /** Goes on counting after the last number that an earlier process used. */
  constructor(of: DeferringClass, segments: Segments, last = 0) {
    this.class = of
    this.#segments = segments
    this.#released = last
  }

  get ops(): number {
    return this.#items.length
  }

  get bytes(): number {
    return this.#bytes
  }

  get status(): OnlyHere {
    const ms = this.ops === 0 ? 0 : Math.round(performance.now() - this.#firstAt)
    return { ops: this.ops, bytes: this.bytes, ms }
  }

  /** How long nothing was added. */
  get idleMs(): number {
    return performance.now() - this.#lastAt
  }

  get epoch(): number | undefined {
    return this.ops === 0 ? undefined : this.#epoch
  }

  /** The first segment that it needs. */
  get segment(): number {
    return this.#items[0]?.segment ?? Infinity
  }

  /** Throws ENOSPC. Gives where written bytes lie. */
  add(
    op: Op,
    request: number,
    directories: readonly Ino[],
    epoch: number,
  ): SegmentPlace | undefined {
    const data = op.type === 'write' && op.data.type === 'bytes' ? op.data.bytes : undefined
    const id = this.#released + this.ops + 1
    const pieces = encodeDeferredRecord(op, request, { class: this.class, id, epoch }, data)
    const { segment, position } = this.#segments.append(pieces)
    const kept = data ? withBytes(op as WriteOp, this.#segments.tail(data.length)) : op
    const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
    this.#note({ op: kept, directories, segment, bytes: opBytes + length })
    this.#epoch = epoch
    return data && { segment, position: position + length - data.length }
  }

  #note(item: Item): void {
    const now = performance.now()
    if (this.#items.push(item) === 1) this.#firstAt = now
    this.#lastAt = now
    this.#bytes += item.bytes
    for (const ino of item.directories) this.#directories.add(ino)
    if ('ino' in item.op) this.#inodes.add(item.op.ino)
  }

  /** Whether an operation that concerns these directories, or this inode, must come after it. */
  touches(directories: readonly Ino[], ino?: Ino): boolean {
    if (this.ops === 0) return false
    return directories.some((each) => this.#directories.has(each)) || this.hasInode(ino)
  }

  hasInode(ino: Ino | undefined): boolean {
    return ino !== undefined && this.#inodes.has(ino)
  }

  /** All of it, in order. */
  *release(): Generator<DeferredBatch> {
    const items = this.#items
    this.#items = []
    this.#bytes = 0
    this.#directories.clear()
    this.#inodes.clear()
    for (let start = 0; start < items.length;) {
      const end = endOf(items, start)
      const batch = this.#batch(items.slice(start, end))
      this.#released += end - start
      start = end
      yield batch
    }
  }

  #batch(items: readonly Item[]): DeferredBatch {
    return {
      class: this.class,
      epoch: this.#epoch,
      first: this.#released + 1,
      ops: items.map(({ op }) => op),
      directories: new Set(items.flatMap(({ directories }) => directories)),
      segment: items[0]!.segment,
      bytes: items.reduce((sum, { bytes }) => sum + bytes, 0),
    }
  }
}

function endOf(items: readonly Item[], start: number): number {
  let [end, bytes] = [start, 0]
  while (end < items.length && end - start < batchOpsMax && bytes < batchBytesMax)
    bytes += items[end++]!.bytes
  return end
}
