import { randomUUID } from 'node:crypto'
import type { Branch, Stores } from '@cairn/core'
import { type ActorId, type CheckpointId, isCairnError, type SessionId } from '@cairn/protocol'
import {
  join,
  leave,
  type LeaseRecord,
  newLease,
  release,
  renew,
  type Transition,
} from './lease.ts'
import type { Clock } from '../workspaces/clock.ts'
import type { LeaseStore } from './lease-store.ts'

export interface LeaseOptions {
  readonly store: LeaseStore
  readonly clock: Clock
  /** How long a writer may be silent before others may pass it by. */
  readonly leaseMs: number
  /** How often a server looks at what other servers did to a lease. */
  readonly lookMs: number
}

const server = 'server' as ActorId

/** The checkpoint of what a holder had at the server when its epoch ended: where its late writes belong. */
export function epochCheckpoint(epoch: number): CheckpointId {
  return `epoch-${epoch}` as CheckpointId
}

/** Moves one branch's lease from hand to hand. Any number of servers do so at once, through the store. */
export class LeaseKeeper {
  readonly #stores: Stores
  readonly #branch: Branch
  readonly #options: LeaseOptions
  readonly #listeners = new Set<(record: LeaseRecord) => void>()
  #record: LeaseRecord

  constructor(stores: Stores, branch: Branch, options: LeaseOptions) {
    this.#stores = stores
    this.#branch = branch
    this.#options = options
    this.#record = newLease(branch.id)
  }

  /** As this server last saw it. */
  get record(): LeaseRecord {
    return this.#record
  }

  /** As long as somebody listens, this server looks at what others do to the lease. */
  subscribe(listener: (record: LeaseRecord) => void): () => void {
    this.#listeners.add(listener)
    if (this.#listeners.size === 1) void this.#keepLooking()
    return () => this.#listeners.delete(listener)
  }

  /** Sees what other servers did. */
  async look(): Promise<LeaseRecord> {
    const stored = await this.#options.store.get(this.#branch.id)
    if (stored && stored.version > this.#record.version) this.#tell(stored)
    return this.#record
  }

  join(session: SessionId): Promise<LeaseRecord> {
    return this.#update((record) =>
      join(record, this.#writer(session), this.#options.clock.nowMs()),
    )
  }

  /** False when the session has been given up. */
  async renew(session: SessionId): Promise<boolean> {
    let known = true
    await this.#update((record) => {
      const renewed = renew(record, this.#writer(session), this.#options.clock.nowMs())
      known = renewed !== undefined
      return renewed ?? { record, fence: false }
    })
    return known
  }

  async release(session: SessionId): Promise<void> {
    await this.#update((record) => ({ record: release(record, session), fence: false }))
  }

  async leave(session: SessionId): Promise<void> {
    await this.#update((record) => ({ record: leave(record, session), fence: false }))
  }

  /**
   * Resolves when `session` may write: it holds the lease, or nobody does. A silent holder is passed by. What this
   * server knows may be old; that is safe, because whoever gets the lease gets a new epoch with it, and what was
   * sent under an older one is refused.
   */
  async whenWritable(session: SessionId): Promise<void> {
    while (this.#record.holder !== undefined && this.#record.holder !== session) {
      if (!this.#record.recalled || this.#isSilent(this.#record.holder)) await this.join(session)
      else await this.#options.clock.sleep(this.#options.lookMs)
      await this.look()
    }
  }

  /** For a write that comes without a session. It counts as a writer for its moment. */
  async withTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#takeTurn(write)
      } catch (error) {
        if (!isCairnError(error, 'stale_epoch')) throw error
        await this.look()
      }
    }
  }

  async #takeTurn<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    if (this.#record.holder === undefined) return write(this.#branch.head.position.epoch)
    const session = `turn-${randomUUID()}` as SessionId
    try {
      await this.whenWritable(session)
      return await write(this.#branch.head.position.epoch)
    } finally {
      await this.leave(session)
    }
  }

  async #keepLooking(): Promise<void> {
    while (this.#listeners.size > 0) {
      await this.#options.clock.sleep(this.#options.lookMs)
      // A store that does not answer now is asked again soon; until then everything stays as it is.
      await this.look().catch(() => undefined)
      await this.#branch.refresh().catch(() => undefined)
    }
  }

  #isSilent(holder: SessionId): boolean {
    const writer = this.#record.writers.find(({ session }) => session === holder)
    return writer === undefined || writer.expiresAtMs <= this.#options.clock.nowMs()
  }

  #writer(session: SessionId): LeaseRecord['writers'][number] {
    const { clock, leaseMs } = this.#options
    return { session, expiresAtMs: clock.nowMs() + leaseMs }
  }

  async #update(change: (record: LeaseRecord) => Transition): Promise<LeaseRecord> {
    for (;;) {
      const before = (await this.#options.store.get(this.#branch.id)) ?? newLease(this.#branch.id)
      const { record, fence } = change(before)
      if (record === before) return before
      // Fence first: from here on nothing that the silent holder sends is taken.
      if (fence) await this.#raiseEpoch()
      const after = { ...record, version: before.version + 1 }
      if (!(await this.#options.store.put(after))) continue
      // A new holder gets an epoch of its own: what others sent before it is either in the log or refused.
      if (after.holder !== undefined && after.holder !== before.holder) await this.#raiseEpoch()
      this.#tell(after)
      return after
    }
  }

  async #raiseEpoch(): Promise<void> {
    await this.#branch.refresh()
    const time = this.#options.clock.now()
    const session = `epoch-${randomUUID()}` as SessionId
    await this.#branch.raiseEpoch({ session, number: 1, actor: server, time }, (before) =>
      this.#stores.refs.putCheckpoint({
        id: epochCheckpoint(before.epoch),
        branch: this.#branch.id,
        label: '',
        seq: before.seq,
        snapshot: before.snapshot,
        time,
      }),
    )
  }

  #tell(record: LeaseRecord): void {
    if (record.version <= this.#record.version) return
    this.#record = record
    for (const listener of this.#listeners) listener(record)
  }
}
