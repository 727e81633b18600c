import type { Ino, SessionId } from '@cairn/protocol'

/** Who holds the lease, as the record says. */
export interface Holders {
  readonly epoch: number
  /** The first one has what nothing is known of. */
  readonly sessions: readonly SessionId[]
}

const knownMax = 200_000

/**
 * Which session may acknowledge changes in which directory. It is noted here before the session hears of it, and taken
 * away after the session has handed in what it acknowledged there.
 *
 * INVARIANT: what a session takes to be its own is its own here, too. So no directory is taken for their own by two.
 */
export class DirectoryHolders {
  readonly #find: () => Holders
  #epoch = 0
  #first: SessionId | undefined
  /** The rest belongs to the first holder. Undefined: no session holds the directory. */
  readonly #known = new Map<Ino, SessionId | undefined>()
  /** The epoch in which several sessions came to hold the lease at this server. */
  #splitEpoch = 0

  constructor(find: () => Holders) {
    this.#find = find
  }

  /** Whether batches of holders are to be held to their directories. Another server's knowledge of them is not here. */
  get isSplit(): boolean {
    return this.#splitEpoch === this.#find().epoch
  }

  /** Too much is known of: memory is not a tenant's to fill. */
  get isFull(): boolean {
    return this.#known.size > knownMax
  }

  noteSplit(epoch: number): void {
    this.#splitEpoch = epoch
  }

  of(ino: Ino): SessionId | undefined {
    const [first, ...others] = this.#current()
    if (!this.#known.has(ino)) return first
    const holder = this.#known.get(ino)
    // One that has left, or handed everything in, holds nothing.
    return holder === first || others.includes(holder!) ? holder : undefined
  }

  /** Whether that session itself asked for the directory, or made it. */
  isKnown(ino: Ino, session: SessionId): boolean {
    return this.of(ino) === session && this.#known.has(ino)
  }

  give(inos: Iterable<Ino>, session: SessionId): void {
    this.#current()
    for (const ino of inos) this.#known.set(ino, session)
  }

  /** The session has handed in what it acknowledged there. */
  take(inos: Iterable<Ino>, session: SessionId): void {
    for (const ino of inos) if (this.of(ino) === session) this.#known.set(ino, undefined)
  }

  /** All of them are the only holder's. */
  clear(): void {
    this.#known.clear()
  }

  /** Nothing outlives its epoch. What the first holder gave up is asked for again when another one takes its place. */
  #current(): readonly SessionId[] {
    const { epoch, sessions } = this.#find()
    if (epoch !== this.#epoch) this.#known.clear()
    else if (sessions[0] !== this.#first)
      for (const [ino, holder] of this.#known) if (holder === undefined) this.#known.delete(ino)
    this.#epoch = epoch
    this.#first = sessions[0]
    return sessions
  }
}
