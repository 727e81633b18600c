import type { SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'

/** A session that stopped applying what others write delays each of their changes by this much, and no more. */
export const waitMsMax = 5000

/** A connected writer. */
export interface Member {
  readonly session: SessionId
  /** What it has taken in, caches included. */
  seen: number
}

/** Which of the writers are to be waited for. */
type IsMeant = (session: SessionId) => boolean

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

  /** False when a newer connection of the session has taken its place. */
  leave(member: Member): boolean {
    if (this.#members.get(member.session) !== member) return false
    this.#members.delete(member.session)
    this.#wake(({ session }) => session === member.session)
    return true
  }

  get isEmpty(): boolean {
    return this.#members.size === 0
  }

  /** Undefined when it is not connected to this server. */
  seenBy(session: SessionId): number | undefined {
    return this.#members.get(session)?.seen
  }

  see(member: Member, seq: number): void {
    member.seen = Math.max(member.seen, seq)
    this.#wake((waiter) => waiter.session === member.session && waiter.seq <= member.seen)
  }

  /** Whether all that are meant have seen `seq`. */
  hasSeen(seq: number, isMeant: IsMeant): boolean {
    return this.#behind(seq, isMeant).length === 0
  }

  /** Resolves when all that are meant have seen `seq` or have gone. False when some had not after `waitMsMax`. */
  async whenSeen(seq: number, isMeant: IsMeant): Promise<boolean> {
    const behind = this.#behind(seq, isMeant)
    if (behind.length === 0) return true
    const seen = behind.map((member) => this.#wait(member.session, seq))
    const all = Promise.all(seen.map(({ over }) => over)).then(() => true)
    const isInTime = await Promise.race([all, this.#clock.sleep(waitMsMax).then(() => false)])
    for (const { waiter } of seen) this.#waiters.delete(waiter)
    return isInTime
  }

  #behind(seq: number, isMeant: IsMeant): readonly Member[] {
    return [...this.#members.values()].filter(({ session, seen }) => seen < seq && isMeant(session))
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
