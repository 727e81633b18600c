import type { Op } from '@cairn/core'
import { type Ino, rootIno, type SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { waitMsMax } from './audience.ts'
import { DirectoryHolders } from './directory-holders.ts'
import { Given, MoreDirectories } from './given.ts'
import { type Claim, InUse } from './in-use.ts'
import { KnownDirectories } from './known-directories.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import { RecentChanges } from './recent-changes.ts'

/** A connected session that gives single directories back. */
export interface Connected {
  readonly session: SessionId
  /** Whether it may acknowledge beside other sessions. */
  readonly mayHoldBeside: boolean
  /** Resolves when the other end has done it; false when its connection ended before. */
  ask(what: 'yield' | 'forget', inos: readonly Ino[]): Promise<boolean>
}

interface Known {
  readonly sharer: Connected
  readonly directories: KnownDirectories
  /** That the server decided, since it last got the lease. */
  changes: number
}

/** A holder that takes longer than this for a directory is asked for everything: then it has a deadline. */
export const yieldMsMax = 2000
/** A holder that sent nothing for so long may lose its lease to a session that works. Busy ones send every 2 s at least. */
const idleMs = 2500
/** So many changes make a session one that works. */
const changesMin = 3
/** What concerns more directories than this has the holders hand everything back. */
const directoriesMax = 64

/**
 * Sessions may hold the lease of a branch while others read and write. Holders acknowledge changes on their own, each in
 * directories that no other one holds, and give back single directories, which they get back by a claim. A directory has
 * two states:
 *
 * - One holder alone knows what is in it. Another client that looks into it, or changes it, first has that holder `yield`
 *   it: the holder submits what it acknowledged there.
 * - No session holds it. All that was acknowledged there is at the server, and sessions may cache it. Before a holder
 *   changes it, it claims it: the sessions that have looked into it `forget` it.
 *
 * All of this is about one server's connections: the lease record says that all writers are connected to this one.
 */
export class LeaseSharing {
  readonly #keeper: LeaseKeeper
  readonly #clock: Clock
  readonly #known = new Map<SessionId, Known>()
  readonly #inUse = new InUse()
  readonly #held: DirectoryHolders
  readonly #recent: RecentChanges
  #holderActiveMs = 0

  constructor(keeper: LeaseKeeper, clock: Clock) {
    this.#keeper = keeper
    this.#clock = clock
    this.#recent = new RecentChanges(clock)
    this.#held = new DirectoryHolders(() => {
      return { epoch: keeper.record.epoch, sessions: keeper.holders }
    })
  }

  /** What is noted of a directory. Tests of the invariants read it. */
  noted(ino: Ino): {
    readonly holder: SessionId | undefined
    readonly looked: readonly SessionId[]
  } {
    const looked = [...this.#known].filter(([, known]) => known.directories.has(ino))
    return { holder: this.#held.of(ino), looked: looked.map(([session]) => session) }
  }

  /** Several sessions came to hold the lease in this epoch. */
  get isSplit(): boolean {
    return this.#held.isSplit
  }

  /** True when what it has cached from before counts no more: a holder may have changed it since. */
  join(sharer: Connected): boolean {
    const isBeside = this.#keeper.holders.some((holder) => holder !== sharer.session)
    const directories = new KnownDirectories(!isBeside)
    this.#known.set(sharer.session, { sharer, directories, changes: 0 })
    if (isBeside) void this.#beginAnew(sharer, directories)
    return isBeside
  }

  /** It hears that what it cached counts no more before it is asked this, and answers when its kernel has forgotten it. */
  async #beginAnew(sharer: Connected, directories: KnownDirectories): Promise<void> {
    directories.isUnsure = true
    if (await sharer.ask('forget', [rootIno])) directories.isUnsure = false
  }

  /** It takes all that it has cached for current: no session held the lease when it heard how it stands. */
  noteAllShown(session: SessionId): void {
    this.#known.get(session)?.directories.fill()
  }

  /** Whether the session gives single directories back. */
  isKnown(session: SessionId): boolean {
    return this.#known.has(session)
  }

  leave(sharer: Connected): void {
    if (this.#known.get(sharer.session)?.sharer !== sharer) return
    this.#known.delete(sharer.session)
  }

  /** The server has all that was acknowledged in these directories when it resolves, and the session is noted. */
  async look(session: SessionId, inos: readonly Ino[]): Promise<void> {
    await this.#sharing(session, inos, async () => this.#noteLooked(session, inos))
  }

  /** Asks for what a change will ask for, while the session's changes before it are under way. */
  async whenGiven(session: SessionId, inos: readonly Ino[]): Promise<void> {
    // In use: their holder must not claim again what it is just asked for.
    this.#inUse.begin(inos)
    try {
      await this.#areYielded(session, inos)
    } finally {
      this.#inUse.end(inos)
    }
  }

  /**
   * Runs a change that the server decides. `write` gets the directories that no session holds, or nothing where all was
   * handed back, and throws MoreDirectories where the change concerns others: then it runs again.
   */
  async change<T>(
    session: SessionId | undefined,
    write: (given: Given | undefined) => Promise<T>,
    first: readonly Ino[] = [],
  ): Promise<T> {
    const given = this.#given(session)
    for (const ino of first) given.inos.add(ino)
    while (given.inos.size <= directoriesMax)
      try {
        return await this.#sharing(session, [...given.inos], async (isWhole) => {
          try {
            const written = await write(isWhole ? undefined : given)
            this.#noteChanged(session, given.changed ?? [])
            return written
          } finally {
            // Also of one that is refused: it comes again.
            this.#recent.note(session, given.changed ?? [])
          }
        })
      } catch (error) {
        if (!(error instanceof MoreDirectories)) throw error
        for (const ino of error.inos) given.inos.add(ino)
      }
    return this.#keeper.asTurn(() => write(undefined))
  }

  /**
   * Runs a change by a holder. Where it has all directories the change was acknowledged, perhaps, and waits for no other
   * client: one of them may wait for this very holder.
   */
  async changeByHolder<T>(
    session: SessionId,
    write: (given: Given | undefined) => Promise<T>,
  ): Promise<T> {
    if (session === this.#keeper.record.holder) this.#holderActiveMs = this.#clock.nowMs()
    try {
      return await write(this.#held.isSplit ? this.#given(session) : undefined)
    } catch (error) {
      if (!(error instanceof MoreDirectories)) throw error
      return this.change(session, write, error.inos)
    }
  }

  /**
   * A directory that a holder makes is its own: no other client knows of it before the batch is in the log. It may cache
   * it, also one that takes the place of the first holder.
   */
  noteMade(session: SessionId, ops: readonly Op[]): void {
    if (!this.#keeper.holds(session)) return
    const made = ops.flatMap((op) =>
      op.type === 'create' && op.kind === 'directory' ? [op.ino] : [],
    )
    if (this.#isCoHolder(session)) this.#give(made, session)
    this.#noteLooked(session, made)
  }

  /** Whether the holder may acknowledge in these directories from now on; in all of them if none is named. */
  async claim(session: SessionId, inos: readonly Ino[]): Promise<boolean> {
    if (inos.length === 0) return this.#claimAll(session)
    if (this.#recent.isContested(session, inos)) return false
    const claim = this.#inUse.claim(inos)
    if (!claim) return false
    return Promise.race([this.#take(session, inos, claim), claim.ended.then(() => false)])
  }

  async #take(session: SessionId, inos: readonly Ino[], claim: Claim): Promise<boolean> {
    try {
      const wanted = inos.filter((ino) => !this.#held.isKnown(ino, session))
      const asked = [this.#areYielded(session, wanted), this.#forgetAll(session, wanted)] as const
      const [areYielded] = await Promise.all(asked)
      if (!areYielded || !claim.isInForce) return false
      if (!this.#keeper.sharingHolders.includes(session)) return false
      this.#give(inos, session)
      this.#noteLooked(session, inos)
      return true
    } finally {
      // Not before all that was asked for is answered: an answer about a directory must not meet its next holder.
      claim.release()
    }
  }

  #claimAll(session: SessionId): boolean {
    const { hasOthers, sharingHolders } = this.#keeper
    if (hasOthers || !sharingHolders.includes(session) || this.#inUse.isBusy) return false
    this.#held.clear()
    this.#known.get(session)?.directories.fill()
    return true
  }

  /** Tells of a session whether it may show what was in these directories, or in any, before the last change in them. */
  mayShow(
    except: SessionId | undefined,
    inos: readonly Ino[] | undefined,
  ): (session: SessionId) => boolean {
    return (session) => {
      if (session === except) return false
      const known = this.#known.get(session)
      return !known || !inos || inos.some((ino) => known.directories.has(ino))
    }
  }

  /** A change that the server decided is in the log. A session that does not use a directory need not hear of more. */
  #noteChanged(by: SessionId | undefined, inos: readonly Ino[]): void {
    for (const known of this.#known.values()) {
      if (known.sharer.session === by) {
        known.directories.noteUsed(inos)
        continue
      }
      const unused = known.directories.noteChanged(inos)
      if (unused.length > 0) void this.#forget(known, unused)
    }
  }

  /** It gets the lease. Unless it came to another one's epoch, it caches without looking. */
  noteLease(session: SessionId): void {
    const known = this.#known.get(session)
    if (known && !this.#isCoHolder(session)) known.directories.fill()
    if (known) known.changes = 0
    this.#holderActiveMs = this.#clock.nowMs()
  }

  /** A session made a change that the server decided. If it goes on, it gets the lease. */
  noteWriter(session: SessionId): void {
    const known = this.#known.get(session)
    if (!known || this.#keeper.holds(session) || ++known.changes < changesMin) return
    // What the store does not take now is tried with the next change.
    this.#letHold(known.sharer).catch(() => undefined)
  }

  async #letHold({ session, mayHoldBeside }: Connected): Promise<void> {
    const { holders, sharingHolders, record } = this.#keeper
    if (holders.length === 0) return this.#keeper.grantBeside(session)
    if (sharingHolders.length === 0) return
    const areReady = holders.every((holder) => this.#known.get(holder)?.sharer.mayHoldBeside)
    if (mayHoldBeside && areReady) {
      this.#held.noteSplit(record.epoch)
      return this.#keeper.addHolder(session)
    }
    const isIdle = this.#clock.nowMs() - this.#holderActiveMs > idleMs
    if (isIdle) await this.#keeper.recallAll()
  }

  /** Runs `work` while no session acknowledges anything in these directories, or anything at all (`isWhole`). */
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

  /** No other session than that one holds the directories. False where everything must be handed back. */
  async #areYielded(session: SessionId | undefined, inos: readonly Ino[]): Promise<boolean> {
    for (;;) {
      const { holders, sharingHolders } = this.#keeper
      if (holders.length > 0 && holders.every((holder) => holder === session)) return true
      if (sharingHolders.length === 0) return false
      const held = Map.groupBy(inos, (ino) => this.#held.of(ino))
      held.delete(undefined)
      if (session !== undefined) held.delete(session)
      if (held.size === 0) return true
      const yields = [...held].map(([holder, theirs]) => this.#yield(holder!, theirs))
      if (!(await Promise.all(yields)).every(Boolean)) return false
    }
  }

  async #yield(holder: SessionId, inos: readonly Ino[]): Promise<boolean> {
    const sharer = this.#known.get(holder)?.sharer
    if (!sharer) return false
    const { epoch } = this.#keeper.record
    const late = this.#clock.sleep(yieldMsMax).then(() => false)
    if (!(await Promise.race([sharer.ask('yield', inos), late]))) return false
    if (this.#keeper.record.epoch === epoch) this.#held.take(inos, holder)
    this.#beginAnewIfFull()
    return true
  }

  #give(inos: readonly Ino[], session: SessionId): void {
    this.#held.give(inos, session)
    this.#beginAnewIfFull()
  }

  /** The next epoch knows of no directory. */
  #beginAnewIfFull(): void {
    if (this.#held.isFull) this.#keeper.recallAll().catch(() => undefined)
  }

  async #forgetAll(holder: SessionId, inos: readonly Ino[]): Promise<void> {
    const others = [...this.#known.values()].filter(({ sharer }) => sharer.session !== holder)
    await Promise.all(others.map((known) => this.#forget(known, inos)))
  }

  async #forget({ sharer, directories }: Known, inos: readonly Ino[]): Promise<void> {
    await directories.forget(inos, (cached) => {
      const late = this.#clock.sleep(waitMsMax).then(() => false)
      return Promise.race([sharer.ask('forget', cached), late])
    })
  }

  #given(session: SessionId | undefined): Given {
    return new Given((ino) => session !== undefined && this.#held.of(ino) === session)
  }

  /** Whether it is a holder that came to another one's epoch. */
  #isCoHolder(session: SessionId): boolean {
    return this.#keeper.record.coHolders.includes(session)
  }

  #noteLooked(session: SessionId, inos: readonly Ino[]): void {
    this.#known.get(session)?.directories.add(inos)
  }
}
