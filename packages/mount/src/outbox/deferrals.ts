import type { Op } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { OnlyHere } from '../mount-status.ts'
import type { SegmentPlace, Segments } from '../data/segments.ts'
import { type DeferredBatch, DeferredQueue } from './deferred-queue.ts'
import { type DeferringClass, deferringClasses } from '../data/spool-record.ts'

export interface DeferralsParts {
  readonly segments: Segments
  /** The lease under which changes are acknowledged now. */
  readonly leaseEpoch: () => number
  /** Puts a batch behind everything that was acknowledged, and gives its number. */
  readonly lineUp: (batch: DeferredBatch) => number
  /** What was deferred is in batches now, the last of which has that number. */
  readonly onReleased: (number: number) => void
  /** The last ids that an earlier process used. */
  readonly last?: Readonly<Record<DeferringClass, number>> | undefined
}

/** Deferred changes leave when no more come for so long, and when they take up so much room. */
const idleMs = 30_000
const bytesMax = 512 << 20

/** Changes that were acknowledged and stay here because of the class of their directories. */
export class Deferrals {
  readonly #parts: DeferralsParts
  readonly #queues: Readonly<Record<DeferringClass, DeferredQueue>>
  #isWaiting = false

  constructor(parts: DeferralsParts) {
    this.#parts = parts
    const queue = (of: DeferringClass): DeferredQueue =>
      new DeferredQueue(of, parts.segments, parts.last?.[of])
    this.#queues = { local: queue('local'), scratch: queue('scratch') }
  }

  get ops(): number {
    return this.#queues.local.ops + this.#queues.scratch.ops
  }

  /** How much is only here, and how old it is. */
  get status(): Readonly<Record<DeferringClass, OnlyHere>> {
    const { local, scratch } = this.#queues
    return { local: local.status, scratch: scratch.status }
  }

  /** The first segment that is needed. */
  get segment(): number {
    return Math.min(this.#queues.local.segment, this.#queues.scratch.segment)
  }

  /** The class in which a change of the inode waits. */
  find(ino: Ino): DeferringClass | undefined {
    return deferringClasses.find((of) => this.#queues[of].hasInode(ino))
  }

  /** Whether a change of the directory, or of a file in it, waits. */
  concerns(directory: Ino): boolean {
    return deferringClasses.some((of) => this.#queues[of].touches([directory]))
  }

  /** Acknowledges an operation. Gives where its bytes lie. Throws ENOSPC. */
  add(
    of: DeferringClass,
    op: Op,
    request: number,
    directories: readonly Ino[],
  ): SegmentPlace | undefined {
    const queue = this.#queues[of]
    const epoch = this.#parts.leaseEpoch()
    if (queue.epoch !== undefined && queue.epoch !== epoch) this.release([of])
    const place = queue.add(op, request, directories, epoch)
    if (queue.bytes > bytesMax) this.release([of])
    else this.#releaseWhenIdle()
    return place
  }

  /** Scratch directories stay here: only a request or another client moves them. */
  #releaseWhenIdle(): void {
    const { local } = this.#queues
    if (this.#isWaiting || local.ops === 0) return
    this.#isWaiting = true
    const look = (): void => {
      this.#isWaiting = false
      if (local.idleMs >= idleMs) this.release(['local'])
      else this.#releaseWhenIdle()
    }
    setTimeout(look, idleMs - local.idleMs + 1).unref()
  }

  /** Sends what waits. */
  release(classes: readonly DeferringClass[] = deferringClasses): void {
    let last: number | undefined
    for (const of of classes)
      for (const batch of this.#queues[of].release()) last = this.#parts.lineUp(batch)
    if (last !== undefined) this.#parts.onReleased(last)
  }

  /** Before an operation that does not wait in the class `but`, and concerns the same directories or inode. */
  releaseBefore(directories: readonly Ino[], ino?: Ino, but?: DeferringClass): void {
    for (const of of deferringClasses)
      if (of !== but && this.#queues[of].touches(directories, ino)) this.release([of])
  }
}
