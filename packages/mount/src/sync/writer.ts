import {
  applyNewOp,
  deepens,
  directoriesOf,
  homesOf,
  type Op,
  placeOf,
  requireInside,
  requireOperation,
} from '@cairn/core'
import {
  allows,
  allowsAll,
  allowsSomewhere,
  type CairnError,
  errorTable,
  FsError,
  type Grant,
  type Ino,
  isCairnError,
  isFsError,
  removesOwn,
} from '@cairn/protocol'
import type { Classes } from '../classes/classes.ts'
import { applyOwn } from '../data/apply.ts'
import type { Contents } from '../data/contents.ts'
import { placeAtEnd } from './append.ts'
import type { Image } from '../image/image.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { Refusal } from '../session/refusal.ts'
import type { Answer } from '../fuse/file-system.ts'
import type { Follower } from './follower.ts'
import type { Holds } from './holds.ts'
import { growthMax, type QuotaRoom } from '../outbox/quota-room.ts'
import type { Contested } from '../kernel/contested.ts'
import type { Taken } from '../session/submissions.ts'
import type { SharingClient } from './sharing.ts'
import { Undecided } from './undecided.ts'
import type { Cause } from '../tool-calls/tool-calls.ts'

export interface WriterParts {
  readonly image: Image
  readonly contents: Contents
  readonly outbox: Outbox
  readonly follower: Follower
  readonly sharing: SharingClient
  readonly contested: Pick<Contested, 'note'>
  readonly classes: Classes
  readonly room: QuotaRoom
  readonly holds: Holds
  /** How this session may write now. */
  readonly standing: () => 'lease' | 'shared' | 'waiting'
  readonly isConnected: () => boolean
  /** Resolves when one of these may have changed, or whether the server takes anything. */
  readonly whenStanding: () => Promise<void>
  readonly submit: (op: Op, cause: Cause) => Promise<Taken>
  /** Once every other mount has taken in the log up to there. */
  readonly barrier: (seq: number) => Promise<void>
  /** Each change waits for the server. */
  readonly waits: boolean
  readonly onRefused: (error: CairnError) => void
  /** Whether the server takes nothing more from this session. */
  readonly refusal: Refusal
  /** What its token allows; undefined for everything. What it does not must not be acknowledged. */
  readonly grant: Grant | undefined
  /** The path of the layer, where more than that is mounted. Nothing else of it takes a change. */
  readonly limit: () => string | undefined
}

/**
 * Makes changes, as the session may make them: acknowledged at once under the lease, else decided by the server and
 * seen by every other mount before it is answered.
 */
export class MountWriter {
  readonly #parts: WriterParts
  /** While the server decides about one change, the others wait: they would build on what may be refused. */
  #asking: Promise<void> | undefined
  readonly #undecided = new Undecided()

  constructor(parts: WriterParts) {
    this.#parts = parts
  }

  get isLeaseHeld(): boolean {
    return this.#parts.standing() === 'lease'
  }

  /** Whether a change of the file, or of names in the directory, is acknowledged here. Throws ImageMiss. */
  decides(ino: Ino): boolean {
    const { sharing, standing } = this.#parts
    return standing() === 'lease' && sharing.isMine(ino)
  }

  /**
   * Throws the errno, or ImageMiss for what is to be loaded first. `make` is asked again when it had to wait.
   */
  change(make: () => Op, cause: Cause): Answer<void> {
    const { outbox, standing, waits, room, refusal, sharing } = this.#parts
    refusal.require()
    const now = standing()
    if (now === 'lease') {
      if (this.#asking) return this.#asking.then(() => this.change(make, cause))
      const op = this.#placed(this.#allowed(make()))
      const decided = this.#undecided.whenFewer(() => this.#concernedBy(op))
      if (decided) return decided.then(() => this.change(make, cause))
      const unclaimed = sharing.findUnclaimed(op)
      if (unclaimed.length > 0) return this.#claim(unclaimed, make, cause)
      if (sharing.isInNoDirectory(op)) return this.#decideBehind(make, cause)
      if (!room.has(growthMax(op)) || this.#isForServer(op)) return this.#ask(make, cause)
      if (outbox.isFull || !this.#tryToAcknowledge(op, cause))
        return this.#whenRoom().then(() => this.change(make, cause))
      return waits ? this.sync() : undefined
    }
    const op = this.#allowed(make())
    if (now === 'waiting') return this.#parts.whenStanding().then(() => this.change(make, cause))
    return this.#share(op, cause)
  }

  /**
   * Other mounts forget the directories, and it is tried again. Where another client is at work the server decides about
   * this one change. It goes behind all that was acknowledged before it.
   */
  async #claim(inos: readonly Ino[], make: () => Op, cause: Cause): Promise<void> {
    const { refusal, sharing, standing } = this.#parts
    const isMine = await refusal.unlessRefused(sharing.claim(inos))
    if (isMine || standing() !== 'lease') return this.change(make, cause)
    return this.#decideBehind(make, cause)
  }

  /** Has the server decide about one change, behind all that was acknowledged before it. */
  #decideBehind(make: () => Op, cause: Cause): Promise<void> {
    const { outbox } = this.#parts
    const op = this.#allowed(make())
    outbox.flushNow()
    outbox.deferrals.release()
    return this.#share(op, cause)
  }

  #concernedBy(op: Op): readonly Ino[] {
    const directories = directoriesOf(this.#parts.image, op)
    return 'ino' in op ? [...directories, op.ino] : directories
  }

  /** No other client can move the end of a file while this mount has the lease. */
  #placed(op: Op): Op {
    return op.type === 'append' ? placeAtEnd(op, this.#parts.image.inode(op.ino)!) : op
  }

  /** Or when there will be none for now: a server that is gone, or takes nothing more, makes no room on a full disk. */
  #whenRoom(): Promise<void> {
    const { outbox, whenStanding } = this.#parts
    return Promise.race([outbox.whenRoom(), whenStanding()])
  }

  /** By the same rules that the server has: what it would refuse must not be acknowledged. */
  #allowed(op: Op): Op {
    const { image, grant } = this.#parts
    const limit = this.#parts.limit()
    try {
      if (grant) requireOperation(image, grant, op, optimistic)
      if (limit !== undefined) requireInside(image, op, limit)
      return op
    } catch (error) {
      throw isCairnError(error) ? errnoOf(error) : error
    }
  }

  #isForServer(op: Op): boolean {
    return this.#mayMeetHidden(op) || this.#movesDirectory(op) || this.#mayGetTooDeep(op)
  }

  /** Two mounts that move directories at once could put each below the other. */
  #movesDirectory(op: Op): boolean {
    const { image, sharing } = this.#parts
    if (op.type !== 'rename' || op.parent === op.newParent || sharing.isUnshared) return false
    const ends = [image.child(op.parent, op.name), image.child(op.newParent, op.newName)]
    return ends.some((dentry) => dentry?.kind === 'directory')
  }

  /** How deep the tree below a directory is, only the server knows: here most of it may not be loaded. */
  #mayGetTooDeep(op: Op): boolean {
    if (op.type !== 'rename') return false
    const { image } = this.#parts
    const ends = [image.child(op.parent, op.name), image.child(op.newParent, op.newName)]
    if (!ends.some((dentry) => dentry?.kind === 'directory')) return false
    return deepens(image.plan([op], applyNewOp), op)
  }

  /**
   * A directory that seems empty may hold what its token does not show, and who created a file decides whether one may
   * remove it without the right to delete. Only the server knows.
   */
  #mayMeetHidden(op: Op): boolean {
    const { image, grant } = this.#parts
    if (!grant || (op.type !== 'unlink' && op.type !== 'rmdir' && op.type !== 'rename'))
      return false
    if (removesOwn(grant) && !allows(grant, 'delete', placeOf(image, op) ?? '/')) return true
    if (op.type === 'unlink') return false
    const link = op.type === 'rmdir' ? op : { parent: op.newParent, name: op.newName }
    if (image.child(link.parent, link.name)?.kind !== 'directory') return false
    return !allowsAll(grant, 'list', placeOf(image, link) ?? '/')
  }

  /** Once everything that was acknowledged is at the server. */
  sync(): Promise<void> {
    const { outbox, refusal } = this.#parts
    return refusal.unlessRefused(outbox.sync())
  }

  /** Once the server has what was acknowledged of the file. */
  whenSent(ino: Ino): Promise<void> {
    const { image, outbox } = this.#parts
    outbox.deferrals.releaseBefore(homesOf(image, ino), ino)
    return this.sync()
  }

  /** The same for one file: EIO, once, if some of its writes went elsewhere since the last call. */
  async syncFile(ino: Ino): Promise<void> {
    await this.sync()
    if (this.#parts.outbox.takeElsewhere(ino)) throw new FsError('EIO')
  }

  /** False when the disk is full and will have room as soon as the server has what is on its way. */
  #tryToAcknowledge(op: Op, cause: Cause): boolean {
    const { outbox, isConnected } = this.#parts
    try {
      this.#acknowledge(op, cause)
      return true
    } catch (error) {
      if (isFsError(error, 'ENOSPC')) outbox.deferrals.release()
      if (isFsError(error, 'ENOSPC') && outbox.pendingOps > 0 && isConnected()) return false
      throw error
    }
  }

  /** Planned, then written down, then true: a full disk leaves everything as it was. */
  #acknowledge(op: Op, cause: Cause): void {
    const { image, contents, room, holds, sharing } = this.#parts
    const directories = directoriesOf(image, op)
    const changes = image.plan([op], applyNewOp)
    const before = 'ino' in op && op.type !== 'create' ? image.inode(op.ino) : undefined
    const from = op.type === 'copy' ? image.inode(op.from) : undefined
    const { number, place } = this.#write(op, cause, directories)
    room.take(number, growthMax(op))
    if ('ino' in op && before?.nlink === 0) holds.noteChange(op.ino, number)
    if (op.type === 'copy' && from?.nlink === 0) holds.noteChange(op.from, number)
    if (before) applyOwn(contents, op, { before, from, place, number })
    image.absorb(changes)
    if (op.type === 'create' && op.kind === 'directory') sharing.noteMade(op.ino)
  }

  /** To the batch that is sent next, or to those that wait because of their class. */
  #write(op: Op, cause: Cause, directories: readonly Ino[]): ReturnType<Outbox['add']> {
    const { outbox, classes } = this.#parts
    const ino = 'ino' in op ? op.ino : undefined
    const { deferrals } = outbox
    // A file without a name is reaped in the class in which it lost it.
    const of = op.type === 'reap' ? deferrals.find(op.ino) : classes.deferralOf(op, directories)
    deferrals.releaseBefore(directories, directories.length === 0 ? ino : undefined, of)
    const { request, toolCall } = cause
    if (of) return outbox.defer(of, op, request, directories)
    return outbox.add(op, request, directories, toolCall)
  }

  /** There may be too little room for it. What is acknowledged must not be refused, so the server decides. */
  async #ask(make: () => Op, cause: Cause): Promise<void> {
    const { outbox, standing, refusal } = this.#parts
    const asked = Promise.withResolvers<void>()
    this.#asking = asked.promise
    try {
      await refusal.unlessRefused(outbox.drain())
      if (standing() === 'lease') return await this.#decide(make(), cause)
    } finally {
      this.#asking = undefined
      asked.resolve()
    }
    return this.change(make, cause)
  }

  async #share(op: Op, cause: Cause): Promise<void> {
    const { follower, barrier, contested } = this.#parts
    contested.note(op)
    await this.#decide(op, cause, async ({ seq, isShown }) => {
      if (!isShown) await follower.whileShown(seq, op, () => barrier(seq))
    })
  }

  /** Has the server decide, and takes in what it took in. */
  async #decide(op: Op, cause: Cause, show?: (taken: Taken) => Promise<void>): Promise<void> {
    const { submit, refusal, follower } = this.#parts
    const concerned = this.#concernedBy(op)
    try {
      const taken = await this.#undecided.during(concerned, async () => {
        const receipt = await refusal.unlessRefused(submit(op, cause))
        await follower.whenApplied(receipt.seq, [op])
        return receipt
      })
      await show?.(taken)
    } catch (error) {
      if (!isCairnError(error)) throw isFsError(error) ? error : new FsError('EIO')
      if (error.code !== 'quota_exceeded') this.#parts.onRefused(error)
      throw errnoOf(error)
    }
  }
}

/** Assumes the best about what only the server knows: then the server is asked. */
const optimistic = { isHeld: () => true, isOwn: () => true }

/** One that may not is no writer: it must not cost others their lease. */
export function mayWrite(grant: Grant | undefined): boolean {
  return !grant || allowsSomewhere(grant, 'write') || allowsSomewhere(grant, 'delete')
}

function errnoOf({ code }: CairnError): FsError {
  return new FsError(errorTable[code].errno)
}
