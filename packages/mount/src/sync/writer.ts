import type { Op } from '@cairn/core'
import { type CairnError, FsError, isCairnError, isFsError } from '@cairn/protocol'
import { applyOwn } from '../data/apply.ts'
import type { Contents } from '../data/contents.ts'
import type { Image } from '../image/image.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Answer } from '../fuse/file-system.ts'
import type { Follower } from './follower.ts'

export interface WriterParts {
  readonly image: Image
  readonly contents: Contents
  readonly outbox: Outbox
  readonly follower: Follower
  /** How this session may write now. */
  readonly standing: () => 'lease' | 'shared' | 'waiting'
  /** Resolves when that may have changed. */
  readonly whenStanding: () => Promise<void>
  readonly submit: (ops: readonly Op[]) => Promise<{ readonly seq: number }>
  /** Once every other mount has taken in the log up to there. */
  readonly barrier: (seq: number) => Promise<void>
  /** Each change waits for the server. */
  readonly waits: boolean
  readonly onRefused: (error: CairnError) => void
}

/**
 * Makes changes, as the session may make them: acknowledged at once under the lease, else decided by the server and
 * seen by every other mount before it is answered.
 */
export class Writer {
  readonly #parts: WriterParts

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  /** Nobody else writes, so nobody else is asked. */
  get isAlone(): boolean {
    return this.#parts.standing() === 'lease'
  }

  /** Throws the errno, or ImageMiss for what is to be loaded first. `make` is asked again when it had to wait. */
  change(make: () => Op): Answer<void> {
    const { outbox, standing, waits } = this.#parts
    const now = standing()
    if (now === 'lease') {
      if (outbox.isFull) return outbox.whenRoom().then(() => this.change(make))
      this.#acknowledge(make())
      return waits ? outbox.drain() : undefined
    }
    if (now === 'waiting') return this.#parts.whenStanding().then(() => this.change(make))
    return this.#share(make())
  }

  /** Once everything that was acknowledged is at the server. */
  sync(): Promise<void> {
    return this.#parts.outbox.drain()
  }

  /** Planned, then written down, then true: a full disk leaves everything as it was. */
  #acknowledge(op: Op): void {
    const { image, contents, outbox } = this.#parts
    const changes = image.plan([op])
    const before = 'ino' in op && op.type !== 'create' ? image.inode(op.ino) : undefined
    const from = op.type === 'copy' ? image.inode(op.from) : undefined
    const { number, place } = outbox.add(op)
    if (before) applyOwn(contents, op, { before, from, place, number })
    image.absorb(changes)
  }

  async #share(op: Op): Promise<void> {
    try {
      const { seq } = await this.#parts.submit([op])
      await this.#parts.follower.whenApplied(seq, [op])
      await this.#parts.barrier(seq)
    } catch (error) {
      if (isFsError(error)) throw error
      if (isCairnError(error)) this.#parts.onRefused(error)
      throw new FsError(isCairnError(error, 'read_only') ? 'EROFS' : 'EIO')
    }
  }
}
