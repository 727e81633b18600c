import type { Ino, SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { waitMsMax } from './audience.ts'
import { Given, MoreDirectories } from './given.ts'
import { InUse } from './in-use.ts'
import type { LeaseKeeper } from './lease-keeper.ts'

/** A connected session that gives single directories back. */
interface Connected {
  readonly session: SessionId
  /** Resolves when the other end has done it; false when its connection ended before. */
  ask(what: 'yield' | 'forget', inos: readonly Ino[]): Promise<boolean>
}

interface Known {
  readonly sharer: Connected
  /** Directories whose contents it may have cached. Undefined: it may be any of them. */
  looked: Set<Ino> | undefined
}

/** A holder that takes longer than this for a directory is asked for everything: then it has a deadline. */
const yieldMsMax = 2000
/** For so long after another client's change, the holder does not get the directory back. */
const contestedMs = 300
/** A holder that sent nothing for so long may lose its lease to a session that works. Busy ones send every 2 s at least. */
const idleMs = 2500
/** So many changes in a row make a session one that works. */
const changesInRow = 3
/** What concerns more directories than this has the holder hand everything back. */
const directoriesMax = 64

/**
 * One session may hold the lease of a branch while others read and write. The holder acknowledges changes on its own,
 * but gives back single directories, which it gets back by a claim. A directory has two states:
 *
 * - The holder alone knows what is in it. Another client that looks into it, or changes it, first has the holder `yield`
 *   it: the holder submits what it acknowledged there.
 * - It is yielded. All that was acknowledged there is at the server, and sessions may cache it. Before the holder changes
 *   it, it claims it: the sessions that have looked into it `forget` it.
 *
 * All of this is about one server's connections: the lease record says that all writers are connected to this one.
 */
export class LeaseSharing {
  readonly #keeper: LeaseKeeper
  readonly #clock: Clock
  readonly #known = new Map<SessionId, Known>()
  readonly #inUse = new InUse()
  /** By the holder of that epoch, over that connection, since it last claimed them. */
  readonly #yielded = new Set<Ino>()
  #yieldedBy: { readonly sharer: Connected | undefined; readonly epoch: number } = {
    sharer: undefined,
    epoch: 0,
  }
  /** When a client other than the holder last changed a directory. */
  readonly #changedMs = new Map<Ino, number>()
  #active: { readonly session: SessionId; changes: number } | undefined
  #holderActiveMs = 0
  /** The holder counts on all the room there is, so no other client may use any of it meanwhile. */
  hasQuota = false

  constructor(keeper: LeaseKeeper, clock: Clock) {
    this.#keeper = keeper
    this.#clock = clock
  }

  /** True when what it has cached from before counts no more: a holder may have changed it since. */
  join(sharer: Connected): boolean {
    const { holder } = this.#keeper.record
    const isBeside = holder !== undefined && holder !== sharer.session
    this.#known.set(sharer.session, { sharer, looked: isBeside ? new Set() : undefined })
    return isBeside
  }

  leave(sharer: Connected): void {
    if (this.#known.get(sharer.session)?.sharer !== sharer) return
    this.#known.delete(sharer.session)
  }

  /** The server has all that was acknowledged in these directories when it resolves, and the session is noted. */
  async look(session: SessionId, inos: readonly Ino[]): Promise<void> {
    await this.#sharing(session, inos, async () => {
      const known = this.#known.get(session)
      for (const ino of inos) known?.looked?.add(ino)
    })
  }

  /**
   * Runs a change by another client than the holder. `write` gets the directories that the holder has given back, or
   * nothing where it has given back everything, and throws MoreDirectories where the change concerns others: then it runs
   * again.
   */
  async change<T>(
    session: SessionId | undefined,
    write: (given: Given | undefined) => Promise<T>,
  ): Promise<T> {
    const given = new Given()
    while (given.inos.size <= directoriesMax)
      try {
        return await this.#sharing(session, [...given.inos], async (isWhole) => {
          const written = await write(isWhole ? undefined : given)
          this.#noteChanged(given.changed)
          return written
        })
      } catch (error) {
        if (!(error instanceof MoreDirectories)) throw error
        for (const ino of error.inos) given.inos.add(ino)
      }
    return this.#keeper.asTurn(() => write(undefined))
  }

  /** Whether the holder may acknowledge in these directories from now on; in all of them if none is named. */
  async claim(session: SessionId, inos: readonly Ino[]): Promise<boolean> {
    if (inos.length === 0) return this.#claimAll(session)
    if (this.#isContested(inos)) return false
    const claim = this.#inUse.claim(inos)
    if (!claim) return false
    try {
      await Promise.race([this.#forgetAll(session, inos), claim.ended])
      if (!claim.isInForce || this.#keeper.sharingHolder !== session) return false
      for (const ino of inos) this.#yielded.delete(ino)
      return true
    } finally {
      claim.end()
    }
  }

  #claimAll(session: SessionId): boolean {
    const { hasOthers, sharingHolder } = this.#keeper
    if (hasOthers || sharingHolder !== session || this.#inUse.isBusy) return false
    this.#yielded.clear()
    return true
  }

  /** It gets the lease, and caches without looking. */
  noteLease(session: SessionId, hasQuota: boolean): void {
    const known = this.#known.get(session)
    if (known) known.looked = undefined
    this.hasQuota = hasQuota
    this.noteHolder()
  }

  /** The holder sent something. */
  noteHolder(): void {
    this.#holderActiveMs = this.#clock.nowMs()
  }

  /** A session made a change that the server decided. If it goes on, it gets the lease. */
  noteWriter(session: SessionId): void {
    if (this.#active?.session === session) this.#active.changes++
    else this.#active = { session, changes: 1 }
    if (this.#active.changes < changesInRow) return
    const { holder } = this.#keeper.record
    const isIdle = this.#clock.nowMs() - this.#holderActiveMs > idleMs
    // What the store does not take now is tried with the next change.
    if (holder === undefined) void this.#keeper.grantBeside(session).catch(() => undefined)
    else if (isIdle && this.#keeper.sharingHolder !== undefined)
      void this.#keeper.recallIdle().catch(() => undefined)
  }

  /** Runs `work` while the holder acknowledges nothing in these directories, or nothing at all (`isWhole`). */
  async #sharing<T>(
    session: SessionId | undefined,
    inos: readonly Ino[],
    work: (isWhole: boolean) => Promise<T>,
  ): Promise<T> {
    this.#inUse.begin(inos)
    try {
      if (await this.#areYielded(session, inos)) return await work(false)
      return await this.#keeper.asTurn(() => work(true))
    } finally {
      this.#inUse.end(inos)
    }
  }

  /** False where the holder must give everything back. */
  async #areYielded(session: SessionId | undefined, inos: readonly Ino[]): Promise<boolean> {
    for (;;) {
      const { holder } = this.#keeper.record
      if (holder === session && holder !== undefined) return true
      const sharer = this.#keeper.sharingHolder && this.#known.get(holder!)?.sharer
      if (!sharer) return false
      const by = this.#beginYields(sharer)
      const missing = inos.filter((ino) => !this.#yielded.has(ino))
      if (missing.length === 0) return true
      const late = this.#clock.sleep(yieldMsMax).then(() => false)
      if (!(await Promise.race([sharer.ask('yield', missing), late]))) return false
      if (this.#yieldedBy === by) for (const ino of missing) this.#yielded.add(ino)
    }
  }

  /** What was yielded under another lease, or over another connection, is asked for again. */
  #beginYields(sharer: Connected): object {
    const { epoch } = this.#keeper.record
    if (this.#yieldedBy.sharer !== sharer || this.#yieldedBy.epoch !== epoch) {
      this.#yielded.clear()
      this.#yieldedBy = { sharer, epoch }
    }
    return this.#yieldedBy
  }

  async #forgetAll(holder: SessionId, inos: readonly Ino[]): Promise<void> {
    const asked = [...this.#known.values()].map(async ({ sharer, looked }) => {
      if (sharer.session === holder) return
      const cached = looked ? inos.filter((ino) => looked.has(ino)) : inos
      if (cached.length === 0) return
      // Before it is asked: a look that comes after the question counts.
      for (const ino of cached) looked?.delete(ino)
      await Promise.race([sharer.ask('forget', cached), this.#clock.sleep(waitMsMax)])
    })
    await Promise.all(asked)
  }

  #noteChanged(inos: Iterable<Ino>): void {
    const nowMs = this.#clock.nowMs()
    for (const ino of inos) {
      // In the order of their times, so that the old ones come first.
      this.#changedMs.delete(ino)
      this.#changedMs.set(ino, nowMs)
    }
    for (const [ino, changedMs] of this.#changedMs) {
      if (changedMs > nowMs - contestedMs) break
      this.#changedMs.delete(ino)
    }
  }

  #isContested(inos: readonly Ino[]): boolean {
    const sinceMs = this.#clock.nowMs() - contestedMs
    return inos.some((ino) => (this.#changedMs.get(ino) ?? -Infinity) > sinceMs)
  }
}
