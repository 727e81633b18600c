import { randomUUID } from 'node:crypto'
import { type Branch, sessionIds, type Stores } from '@cairn/core'
import { type Ino, isCairnError, type SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { Audience, type Member } from './audience.ts'
import { noteCoHolder } from './co-holders.ts'
import { endEpoch } from './epoch-end.ts'
import type { Given } from './given.ts'
import { whenHandedBack } from './handed-back.ts'
import { HeldInodes } from './held-inodes.ts'
import { homesOf } from './homes.ts'
import {
  addHolder,
  areTogether,
  forfeit,
  grantBeside,
  holdersOf,
  join,
  leave,
  newLease,
  type Patience,
  patienceFor,
  progress,
  recall,
  release,
  renew,
  type Transition,
  unchanged,
} from './lease.ts'
import type { LeaseRecord, LeaseStore } from '../ports/lease-store.ts'
import { hurry, OtherServers } from './other-servers.ts'
import type { SessionNoteStore } from '../ports/session-note-store.ts'
import { PromisedRoom } from './promised-room.ts'
import { LeaseSharing } from './sharing.ts'
import { Turns } from './turns.ts'

export interface LeaseOptions {
  readonly store: LeaseStore
  readonly notes: SessionNoteStore
  readonly clock: Clock
  /** How long a writer may be silent before others may pass it by. */
  readonly leaseMs: number
  /** How often a server looks at what other servers did to a lease. */
  readonly lookMs: number
  /** Where other servers reach this one; absent where it takes no relayed sessions. */
  readonly address?: string | undefined
}

interface LeaseKeeperOptions extends LeaseOptions {
  /** There may be other servers on the same stores. */
  readonly isShared: boolean
  /** Hears when a holder is asked to hand its lease back. */
  readonly onRecall?: (() => void) | undefined
  /** Hears when a change was answered before all read-write sessions had applied it. */
  readonly onLateSession?: (() => void) | undefined
}

/** A writer of a branch on this server. Its lease does not concern readers. */
interface Follower {
  readonly onLease: ((record: LeaseRecord) => void) | undefined
}

/** Moves one branch's lease from hand to hand. Any number of servers do so at once, through the store. */
export class LeaseKeeper {
  readonly #stores: Stores
  readonly #branch: Branch
  readonly #options: LeaseKeeperOptions
  readonly #followers = new Set<Follower>()
  /** Who is connected to this server, and what each has taken in. */
  readonly audience: Audience
  /** Single directories that holders give back. */
  readonly sharing: LeaseSharing
  /** What holders may count on where a quota limits the branch. */
  readonly room: PromisedRoom
  /** Files without a name that sessions have open. */
  readonly heldInodes: HeldInodes
  readonly #id = randomUUID()
  /** Sessions that give single directories back. */
  readonly #shares = new Set<SessionId>()
  /** Undefined when there are none. */
  readonly #others: OtherServers | undefined
  #record: LeaseRecord
  readonly #turns: Turns
  #looking: Promise<LeaseRecord> | undefined
  #isLooking = false
  #updating: Promise<unknown> = Promise.resolve()

  constructor(stores: Stores, branch: Branch, options: LeaseKeeperOptions) {
    this.#stores = stores
    this.#branch = branch
    this.#options = options
    this.#record = newLease(branch.id)
    const { clock, lookMs, notes: store } = options
    const audience = new Audience(clock)
    this.audience = audience
    this.sharing = new LeaseSharing(this, clock)
    this.room = new PromisedRoom(branch, this)
    this.heldInodes = new HeldInodes(branch.id, options)
    this.#turns = new Turns(this, clock)
    const findLiveWriters = async (): Promise<readonly SessionId[]> => {
      await this.look()
      return this.liveWriters
    }
    if (options.isShared)
      this.#others = new OtherServers({
        branch: branch.id,
        store,
        clock,
        lookMs,
        audience,
        findLiveWriters,
      })
  }

  get lookMs(): number {
    return this.#options.lookMs
  }

  /** Sessions that write, as this server last saw it. Those that ran out, and writes of a moment, do not count. */
  get liveWriters(): readonly SessionId[] {
    const nowMs = this.#options.clock.nowMs()
    return this.#record.writers
      .filter(
        ({ session, expiresAtMs }) => expiresAtMs > nowMs && !sessionIds.isTurnSession(session),
      )
      .map(({ session }) => session)
  }

  /** As this server last saw it. */
  get record(): LeaseRecord {
    return this.#record
  }

  /**
   * While a session follows the branch, this server looks at what others do to it and to its lease. Its own changes
   * are announced without looking.
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

  /** A look soon, one for all that wait: each of them is a question to the store. */
  nextLook(): Promise<LeaseRecord> {
    const { clock, lookMs } = this.#options
    this.#looking ??= clock.sleep(lookMs / hurry).then(() => {
      this.#looking = undefined
      return this.look()
    })
    return this.#looking
  }

  /** A read-write session begins to follow the branch. Gives what ends that. */
  async joinAudience(
    session: SessionId,
    shares: boolean,
  ): Promise<{ member: Member; leave: () => void }> {
    if (shares) this.#shares.add(session)
    else this.#shares.delete(session)
    const member = this.audience.join(session, 0)
    const leave = (): void => {
      if (this.audience.leave(member)) void this.#others?.leave(session).catch(() => undefined)
    }
    try {
      await this.#others?.join(session)
    } catch (error) {
      leave()
      throw error
    }
    return { member, leave }
  }

  /** A session that was given up while it was silent: its note may be gone, too. */
  async rejoin(session: SessionId): Promise<void> {
    await this.#others?.join(session)
    await this.join(session)
  }

  /**
   * Resolves when every read-write session but `except` has applied the log up to `seq`, whichever server it is
   * connected to. One that does not is waited for, but not for ever. If the change concerns `inos` alone, sessions of this
   * server that have nothing of these cached are not waited for.
   */
  async whenSeen(seq: number, except?: SessionId, inos?: readonly Ino[]): Promise<void> {
    if (this.#hasNoSessions) return
    const [here, elsewhere] = await Promise.all([
      this.audience.whenSeen(seq, this.sharing.mayShow(except, inos)),
      this.#others?.whenSeen(seq, except) ?? true,
    ])
    if (!here || !elsewhere) this.#options.onLateSession?.()
  }

  /** See `whenHandedBack`. */
  whenHandedBack(session: SessionId): Promise<void> {
    const isConnected = async (other: SessionId): Promise<boolean> =>
      this.audience.seenBy(other) !== undefined || ((await this.#others?.has(other)) ?? false)
    return whenHandedBack(this, this.#options, session, isConnected)
  }

  /**
   * Known without asking the store: the first session to join a branch that has none gets the lease, and with it a
   * new epoch. In the epoch of a record without writers, no session has joined since.
   */
  get #hasNoSessions(): boolean {
    const { writers, epoch } = this.#record
    const { epoch: current } = this.#branch.head.position
    return this.audience.isEmpty && writers.length === 0 && epoch === current
  }

  /** No session follows the branch, and none that was here before will come back. */
  get isUnused(): boolean {
    return !this.#options.isShared && this.#followers.size === 0 && this.#hasNoSessions
  }

  join(session: SessionId): Promise<LeaseRecord> {
    return this.#update((record) =>
      join(record, this.#writer(session), this.#options.clock.nowMs(), this.#patience),
    )
  }

  /** Those that may acknowledge, or have acknowledged and not handed in. */
  get holders(): readonly SessionId[] {
    return holdersOf(this.#record)
  }

  holds(session: SessionId): boolean {
    return this.holders.includes(session)
  }

  /**
   * The sessions that hold the lease and give single directories back to this server. None where no session holds it, or
   * everything must be handed back first.
   */
  get sharingHolders(): readonly SessionId[] {
    return this.#record.recalled || !this.#areHere ? [] : this.holders
  }

  /** All writers give single directories back, to this server. */
  get #areHere(): boolean {
    return areTogether(this.#record) && this.#record.writers[0]!.sharesAt === this.#id
  }

  /** See `homesOf`. */
  homes(except?: string): readonly string[] {
    const nowMs = this.#options.clock.nowMs()
    return homesOf(this.#record, { server: this.#id, nowMs, except })
  }

  /** Whether other sessions write. */
  get hasOthers(): boolean {
    return this.#record.writers.length > 1
  }

  /** Whether the server answers the session's writes. */
  isServed(session: SessionId): boolean {
    const { holder } = this.#record
    return holder === undefined || (!this.holds(session) && this.#areHere)
  }

  /** The session writes while no other does: it may get the lease. */
  async grantBeside(session: SessionId): Promise<void> {
    await this.#update((record) => grantBeside(record, session))
  }

  /** The session works beside holders: it becomes one. That it did is in the log before it hears of it. */
  async addHolder(session: SessionId): Promise<void> {
    const { epoch } = this.#record
    await noteCoHolder(this.#stores, this.#branch, {
      session,
      epoch,
      time: this.#options.clock.now(),
    })
    await this.#update((record) => unchanged(addHolder(record, session, epoch)))
  }

  /** All holders are asked to hand in what they acknowledged. */
  async recallAll(): Promise<void> {
    await this.#update((record) =>
      unchanged(recall(record, this.#options.clock.nowMs(), this.#patience)),
    )
  }

  get #patience(): Patience {
    return patienceFor(this.#options.leaseMs)
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
      const nowMs = this.#options.clock.nowMs()
      const renewed = renew(record, this.#writer(session), nowMs, this.#patience)
      known = renewed !== undefined
      return renewed ?? unchanged(record)
    })
    return known
  }

  async release(session: SessionId, epoch: number): Promise<void> {
    await this.#update((record) => release(record, session, epoch))
  }

  /** Resolves when the epoch is over: other holders hand in first. */
  async forfeit(session: SessionId, epoch: number): Promise<void> {
    const { clock, lookMs } = this.#options
    const end = (record: LeaseRecord): Transition =>
      forfeit(record, session, epoch, clock.nowMs(), this.#patience)
    while ((await this.#update(end)).epoch === epoch) await clock.sleep(lookMs)
  }

  async leave(session: SessionId): Promise<void> {
    await this.#update((record) => leave(record, session))
  }

  /**
   * For a write that comes without a session. It counts as a writer for its moment, and writes in the epoch it is
   * given: in another one another session has the lease, and the log refuses.
   */
  withTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    return this.#untilInEpoch(() => this.asTurn(write))
  }

  async #untilInEpoch<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await write()
      } catch (error) {
        if (!isCairnError(error, 'stale_epoch')) throw error
        await this.#update(unchanged)
      }
    }
  }

  /**
   * For a change of some directories that comes without a session. Beside a holder that gives single directories back,
   * only these are waited for: `write` gets the ones that the holder has given back, and throws MoreDirectories for others.
   */
  async withDirectories<T>(write: (epoch: number, given?: Given) => Promise<T>): Promise<T> {
    return this.#untilInEpoch(() =>
      this.sharing.change(undefined, (given) => write(this.#record.epoch, given)),
    )
  }

  /** Rejects with `stale_epoch` when another writer got the lease meanwhile. */
  asTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    return this.#turns.take(write)
  }

  async #keepLooking(): Promise<void> {
    this.#isLooking = true
    while (this.#followers.size > 0) {
      await this.#options.clock.sleep(this.#others?.lookMs ?? this.#options.lookMs)
      // A store that does not answer now is asked again soon; until then everything stays as it is.
      await this.look().catch(() => undefined)
      await this.#branch.refresh().catch(() => undefined)
      await this.#others?.answer(this.#branch.head.position.seq).catch(() => undefined)
    }
    this.#isLooking = false
  }

  #writer(session: SessionId): LeaseRecord['writers'][number] {
    const { clock, leaseMs, address } = this.#options
    const writer = { session, expiresAtMs: clock.nowMs() + leaseMs }
    if (!this.#shares.has(session)) return writer
    return { ...writer, sharesAt: this.#id, ...(address === undefined ? {} : { address }) }
  }

  /** One after the other: several of one server would only be in each other's way. */
  #update(change: (record: LeaseRecord) => Transition): Promise<LeaseRecord> {
    const updated = this.#updating.then(() => this.#updateNow(change))
    this.#updating = updated.catch(() => undefined)
    return updated
  }

  /**
   * The epoch first, then the record that names it: a reader of the record finds its epoch in the log, with all that
   * came before it. A server that dies in between leaves an epoch that no record names; the next one begins another.
   */
  async #updateNow(change: (record: LeaseRecord) => Transition): Promise<LeaseRecord> {
    for (let waitedFor = -1; ;) {
      const before = await this.#read()
      const epoch = await this.#epochSince(before)
      const isInForce = before.epoch === epoch
      if (!isInForce && before.version !== waitedFor) {
        waitedFor = before.version
        // Most likely another server is about to record it.
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

  /** Undefined when another server was quicker. */
  async #write(
    before: LeaseRecord,
    record: LeaseRecord,
    endingEpoch: number | undefined,
  ): Promise<LeaseRecord | undefined> {
    const [stores, branch, time] = [this.#stores, this.#branch, this.#options.clock.now()]
    const next = { holder: record.holder, time }
    if (endingEpoch !== undefined && !(await endEpoch(stores, branch, endingEpoch, next)))
      return undefined
    const version = before.version + 1
    const after =
      endingEpoch === undefined
        ? { ...record, epoch: before.epoch, version }
        : { ...record, coHolders: [], epoch: endingEpoch + 1, version }
    return (await this.#options.store.put(after)) ? after : undefined
  }

  async #read(): Promise<LeaseRecord> {
    return (await this.#options.store.get(this.#branch.id)) ?? newLease(this.#branch.id)
  }

  #tell(record: LeaseRecord): LeaseRecord {
    if (record.version <= this.#record.version) return record
    this.#record = record
    this.#branch.reservations.keepOnly(holdersOf(record))
    for (const { onLease } of this.#followers) onLease?.(record)
    return record
  }
}
