import { randomInt } from 'node:crypto'
import { applyLock, type FileLock, type FileLocks, findBlocker, type LockChange } from '@cairn/core'
import { type BranchId, FsError, type Ino, type SessionId } from '@cairn/protocol'
import type { LeaseKeeper } from './lease-keeper.ts'
import type { Clock } from '../ports/clock.ts'
import type { LockRecord, LockStore } from '../ports/lock-store.ts'
import { Waits } from './waits.ts'

export interface LockKeeperParts {
  readonly store: LockStore
  readonly branch: BranchId
  /** Knows who is alive. */
  readonly lease: LeaseKeeper
  readonly clock: Clock
}

/** A row is read and written as a whole. */
const locksMax = 1000
/** What `randomInt` can give at most. */
const stampMax = 2 ** 48 - 1

/**
 * Keeps the locks of one branch's files. Any number of servers do so at once, through the store. A
 * lock counts for as long as its session is one of the branch's writers and not silent for longer
 * than the lease time. After that it is taken away when it is in another owner's way, not before.
 */
export class LockKeeper {
  readonly #parts: LockKeeperParts
  readonly #turns = new Map<Ino, Promise<unknown>>()
  readonly #waits = new Map<SessionId, Waits>()
  #changed = Promise.withResolvers<void>()

  constructor(parts: LockKeeperParts) {
    this.#parts = parts
  }

  /** For a new connection of a session. Waits of an earlier connection are dropped. */
  beginWaits(session: SessionId): Waits {
    this.#waits.get(session)?.endAll()
    const waits = new Waits()
    this.#waits.set(session, waits)
    return waits
  }

  endWaits(session: SessionId, waits: Waits): void {
    waits.endAll()
    if (this.#waits.get(session) === waits) this.#waits.delete(session)
  }

  /**
   * Rejects with EAGAIN where another lock is in the way; given a signal it waits instead, and
   * rejects with EINTR when that is aborted. Requests of one connection about a file are done in
   * their order.
   */
  async set(ino: Ino, change: LockChange, wait?: AbortSignal): Promise<void> {
    const aborted = wait && whenAborted(wait)
    for (;;) {
      // Before it is looked at: what changes meanwhile is heard of.
      const changed = this.#changed.promise
      if (await this.#inTurn(ino, () => this.#try(ino, change))) return
      if (!wait) throw new FsError('EAGAIN')
      await Promise.race([changed, aborted, this.#parts.clock.sleep(this.#parts.lease.lookMs)])
      if (wait.aborted) throw new FsError('EINTR')
    }
  }

  async findBlocker(ino: Ino, change: LockChange): Promise<FileLock | undefined> {
    const { store, branch } = this.#parts
    const locks = (await store.get(branch, ino))?.locks ?? []
    return findBlocker(locks, change) && findBlocker(await this.#living(locks, change), change)
  }

  async heldBy(session: SessionId): Promise<readonly LockRecord[]> {
    const { store, branch } = this.#parts
    const records = await store.list(branch)
    return records.map((record) => ({
      ...record,
      locks: record.locks.filter((lock) => lock.session === session),
    }))
  }

  /** Locks may have become free: waiters look again. */
  wake(): void {
    this.#changed.resolve()
    this.#changed = Promise.withResolvers()
  }

  /** False when another lock is in the way. */
  async #try(ino: Ino, change: LockChange): Promise<boolean> {
    const { store, branch } = this.#parts
    for (;;) {
      const before = await store.get(branch, ino)
      const locks = await this.#apply(before?.locks ?? [], change)
      if (!locks) return false
      if (locks.length > locksMax) throw new FsError('ENOLCK')
      if (!before && locks.length === 0) return true
      // DURABLE: every server sees the lock.
      if (await store.replace(before, { branch, ino, locks, stamp: randomInt(stampMax) })) break
    }
    this.wake()
    return true
  }

  async #apply(locks: FileLocks, change: LockChange): Promise<FileLocks | undefined> {
    const outcome = applyLock(locks, change)
    if ('locks' in outcome) return outcome.locks
    const again = applyLock(await this.#living(locks, change), change)
    return 'locks' in again ? again.locks : undefined
  }

  /**
   * This server's knowledge of the others may be stale: it looks before it passes over a session.
   */
  async #living(locks: FileLocks, { session }: LockChange): Promise<FileLocks> {
    const { lease } = this.#parts
    const isLiving = (lock: FileLock): boolean =>
      lock.session === session || lease.liveWriters.includes(lock.session)
    if (locks.every(isLiving)) return locks
    await lease.look()
    return locks.filter(isLiving)
  }

  /** One after the other, so that an unlock is done before a lock that was asked for behind it. */
  #inTurn<T>(ino: Ino, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(ino) ?? Promise.resolve()).then(work)
    const over = turn
      .catch(() => undefined)
      .then(() => {
        if (this.#turns.get(ino) === over) this.#turns.delete(ino)
      })
    this.#turns.set(ino, over)
    return turn
  }
}

function whenAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}
