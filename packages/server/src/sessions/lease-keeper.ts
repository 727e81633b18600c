import { randomUUID } from 'node:crypto'
import type { Branch, Stores } from '@cairn/core'
import { type ActorId, isCairnError, type SessionId } from '@cairn/protocol'
import type { Clock } from '../workspaces/clock.ts'
import { Audience } from './audience.ts'
import { epochAuthor, epochCheckpoint } from './epoch-end.ts'
import {
  forfeit,
  isOverdue,
  join,
  leave,
  type LeaseRecord,
  newLease,
  type Patience,
  progress,
  release,
  renew,
  type Transition,
  unchanged,
} from './lease.ts'
import type { LeaseStore } from './lease-store.ts'

export interface LeaseOptions {
  readonly store: LeaseStore
  readonly clock: Clock
  /** How long a writer may be silent before others may pass it by. */
  readonly leaseMs: number
  /** How often a server looks at what other servers did to a lease. */
  readonly lookMs: number
}

interface LeaseKeeperOptions extends LeaseOptions {
  /** There may be other servers on the same stores. */
  readonly isShared: boolean
  /** Hears when a holder is asked to hand its lease back. */
  readonly onRecall?: (() => void) | undefined
}

/** Of a branch on this server. Who only reads is not concerned with its lease. */
interface Follower {
  readonly onLease: ((record: LeaseRecord) => void) | undefined
}

const server = 'server' as ActorId
const turnPrefix = 'turn-'
/** How long a recalled holder is waited for after its last receipt, and in all: 30 s and 10 min with ordinary leases. */
const recallLeases = 3
const recallLeasesMax = 60

/** Moves one branch's lease from hand to hand. Any number of servers do so at once, through the store. */
export class LeaseKeeper {
  readonly #stores: Stores
  readonly #branch: Branch
  readonly #options: LeaseKeeperOptions
  readonly #followers = new Set<Follower>()
  /** Who is connected to this server, and what each has taken in. */
  readonly audience: Audience
  #record: LeaseRecord
  #isLooking = false
  #updating: Promise<unknown> = Promise.resolve()

  constructor(stores: Stores, branch: Branch, options: LeaseKeeperOptions) {
    this.#stores = stores
    this.#branch = branch
    this.#options = options
    this.#record = newLease(branch.id)
    this.audience = new Audience(options.clock)
  }

  get lookMs(): number {
    return this.#options.lookMs
  }

  /** Sessions that write, as this server last saw it. Those that ran out, and writes of a moment, do not count. */
  get liveWriters(): readonly SessionId[] {
    const nowMs = this.#options.clock.nowMs()
    return this.#record.writers
      .filter(({ session, expiresAtMs }) => expiresAtMs > nowMs && !session.startsWith(turnPrefix))
      .map(({ session }) => session)
  }

  /** As this server last saw it. */
  get record(): LeaseRecord {
    return this.#record
  }

  /**
   * As long as somebody follows the branch, this server looks at what others do to it and to its lease. What it does
   * itself is told without looking.
   */
  follow(onLease?: (record: LeaseRecord) => void): () => void {
    const follower = { onLease }
    this.#followers.add(follower)
    if (this.#options.isShared && !this.#isLooking) void this.#keepLooking()
    return () => this.#followers.delete(follower)
  }

  /** Sees what other servers did. */
  async look(): Promise<LeaseRecord> {
    this.#tell(await this.#read())
    return this.#record
  }

  join(session: SessionId): Promise<LeaseRecord> {
    return this.#update((record) =>
      join(record, this.#writer(session), this.#options.clock.nowMs(), this.#patience),
    )
  }

  get #patience(): Patience {
    const { leaseMs } = this.#options
    return { ms: recallLeases * leaseMs, mostMs: recallLeasesMax * leaseMs }
  }

  /** The session got a receipt. While it is asked to hand the lease back, that gives it more time. */
  async noteProgress(session: SessionId): Promise<void> {
    const move = (record: LeaseRecord): LeaseRecord =>
      progress(record, session, this.#options.clock.nowMs(), this.#patience)
    if (move(this.#record) !== this.#record) await this.#update((record) => unchanged(move(record)))
  }

  /** False when the session has been given up. */
  async renew(session: SessionId): Promise<boolean> {
    let known = true
    await this.#update((record) => {
      const renewed = renew(record, this.#writer(session), this.#options.clock.nowMs())
      known = renewed !== undefined
      return renewed ?? unchanged(record)
    })
    return known
  }

  async release(session: SessionId, epoch: number): Promise<void> {
    await this.#update((record) => release(record, session, epoch))
  }

  async forfeit(session: SessionId, epoch: number): Promise<void> {
    await this.#update((record) => forfeit(record, session, epoch))
  }

  async leave(session: SessionId): Promise<void> {
    await this.#update((record) => leave(record, session))
  }

  /**
   * For a write that comes without a session. It counts as a writer for its moment, and writes in the epoch it is
   * given: in another one somebody else has the lease, and the log refuses.
   */
  async withTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#takeTurn(write)
      } catch (error) {
        if (!isCairnError(error, 'stale_epoch')) throw error
        await this.#update(unchanged)
      }
    }
  }

  async #takeTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    // What this server knows may be old. That is safe: nobody gets the lease in an epoch that others write in.
    if (this.#record.holder === undefined) return write(this.#record.epoch)
    const session = `${turnPrefix}${randomUUID()}` as SessionId
    try {
      await this.#whenWritable(session)
      return await write(this.#record.epoch)
    } finally {
      // It has been written or not, whatever becomes of this: a turn that cannot be ended runs out.
      await this.leave(session).catch(() => undefined)
    }
  }

  /** Resolves when `session` may write: it holds the lease, or nobody does. A silent holder is passed by. */
  async #whenWritable(session: SessionId): Promise<void> {
    await this.join(session)
    while (this.#record.holder !== undefined && this.#record.holder !== session) {
      await this.#options.clock.sleep(this.#options.lookMs)
      const { holder, recalled } = await this.look()
      const isLate = isOverdue(this.#record, this.#options.clock.nowMs())
      if (!recalled || isLate || this.#isSilent(holder) || this.#isSilent(session))
        await this.join(session)
    }
  }

  async #keepLooking(): Promise<void> {
    this.#isLooking = true
    while (this.#followers.size > 0) {
      await this.#options.clock.sleep(this.#options.lookMs)
      // A store that does not answer now is asked again soon; until then everything stays as it is.
      await this.look().catch(() => undefined)
      await this.#branch.refresh().catch(() => undefined)
    }
    this.#isLooking = false
  }

  #isSilent(session: SessionId | undefined): boolean {
    const writer = this.#record.writers.find((other) => other.session === session)
    return writer === undefined || writer.expiresAtMs <= this.#options.clock.nowMs()
  }

  #writer(session: SessionId): LeaseRecord['writers'][number] {
    const { clock, leaseMs } = this.#options
    return { session, expiresAtMs: clock.nowMs() + leaseMs }
  }

  /** One after the other: several of one server would only be in each other's way. */
  #update(change: (record: LeaseRecord) => Transition): Promise<LeaseRecord> {
    const updated = this.#updating.then(() => this.#updateNow(change))
    this.#updating = updated.catch(() => undefined)
    return updated
  }

  /**
   * The epoch first, then the record that names it: whoever reads the record finds its epoch in the log, with all
   * that came before it. Who dies in between leaves an epoch that no record names; the next one begins another.
   */
  async #updateNow(change: (record: LeaseRecord) => Transition): Promise<LeaseRecord> {
    for (let waitedFor = -1; ;) {
      const before = await this.#read()
      const epoch = await this.#epochSince(before)
      const isInForce = before.epoch === epoch
      if (!isInForce && before.version !== waitedFor) {
        waitedFor = before.version
        // Most likely somebody is about to write it down.
        await this.#options.clock.sleep(this.#options.lookMs)
        continue
      }
      const { record, newEpoch } = change(before)
      if (record === before && isInForce) return this.#tell(before)
      const after = await this.#write(before, record, newEpoch || !isInForce ? epoch : undefined)
      if (!after) continue
      if (after.recalled && !before.recalled) this.#options.onRecall?.()
      return this.#tell(after)
    }
  }

  /** The branch's epoch, as far as this server knows, and not older than the record. */
  async #epochSince(record: LeaseRecord): Promise<number> {
    if (this.#branch.head.position.epoch < record.epoch) await this.#branch.refresh()
    return this.#branch.head.position.epoch
  }

  /** Undefined when somebody else was quicker. */
  async #write(
    before: LeaseRecord,
    record: LeaseRecord,
    endingEpoch: number | undefined,
  ): Promise<LeaseRecord | undefined> {
    if (endingEpoch !== undefined && !(await this.#endEpoch(endingEpoch, record.holder)))
      return undefined
    const epoch = endingEpoch === undefined ? before.epoch : endingEpoch + 1
    const after = { ...record, epoch, version: before.version + 1 }
    return (await this.#options.store.put(after)) ? after : undefined
  }

  /** False when it has ended already. */
  async #endEpoch(epoch: number, next: SessionId | undefined): Promise<boolean> {
    const time = this.#options.clock.now()
    const session = epochAuthor(randomUUID(), next)
    const author = { session, number: 1, actor: server, time }
    try {
      await this.#branch.raiseEpoch(
        author,
        ({ seq, snapshot }) => {
          const id = epochCheckpoint(epoch, seq)
          const checkpoint = { id, branch: this.#branch.id, label: '', seq, snapshot, time }
          return this.#stores.refs.putCheckpoint(checkpoint)
        },
        epoch,
      )
      return true
    } catch (error) {
      if (isCairnError(error, 'stale_epoch')) return false
      throw error
    }
  }

  async #read(): Promise<LeaseRecord> {
    return (await this.#options.store.get(this.#branch.id)) ?? newLease(this.#branch.id)
  }

  #tell(record: LeaseRecord): LeaseRecord {
    if (record.version <= this.#record.version) return record
    this.#record = record
    for (const { onLease } of this.#followers) onLease?.(record)
    return record
  }
}
