import type { SessionId } from '@cairn/protocol'
import type { Clock } from '../workspaces/clock.ts'

/** A writer that stopped taking in what others write holds them up for so long each time, and no longer. */
const waitMsMax = 1000

/** A connected writer. */
export interface Member {
  readonly session: SessionId
  /** What it has taken in, caches included. */
  seen: number
}

interface Waiter {
  readonly session: SessionId
  readonly seq: number
  readonly wake: () => void
}

/** The writers of a branch that are connected to this server, and how much of the log each has taken in. */
export class Audience {
  readonly #clock: Clock
  /** One for a session: of two connections the newer is the one that is used. */
  readonly #members = new Map<SessionId, Member>()
  readonly #waiters = new Set<Waiter>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  join(session: SessionId, seen: number): Member {
    const member = { session, seen }
    this.#members.set(session, member)
    return member
  }

  leave(member: Member): void {
    if (this.#members.get(member.session) !== member) return
    this.#members.delete(member.session)
    this.#wake(({ session }) => session === member.session)
  }

  has(session: SessionId): boolean {
    return this.#members.has(session)
  }

  see(member: Member, seq: number): void {
    member.seen = Math.max(member.seen, seq)
    this.#wake((waiter) => waiter.session === member.session && waiter.seq <= member.seen)
  }

  /** Resolves when everybody but `session` has seen `seq`, has gone, or had time enough. */
  async whenSeen(seq: number, session: SessionId): Promise<void> {
    const behind = [...this.#members.values()].filter(
      (member) => member.session !== session && member.seen < seq,
    )
    if (behind.length === 0) return
    const seen = behind.map((member) => this.#wait(member.session, seq))
    const isLate = this.#clock.sleep(waitMsMax)
    await Promise.race([Promise.all(seen.map(({ over }) => over)), isLate])
    for (const { waiter } of seen) this.#waiters.delete(waiter)
  }

  #wait(session: SessionId, seq: number): { waiter: Waiter; over: Promise<void> } {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiter = { session, seq, wake: resolve }
    this.#waiters.add(waiter)
    return { waiter, over: promise }
  }

  #wake(isOver: (waiter: Waiter) => boolean): void {
    for (const waiter of this.#waiters) {
      if (!isOver(waiter)) continue
      this.#waiters.delete(waiter)
      waiter.wake()
    }
  }
}
