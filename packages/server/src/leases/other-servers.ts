import { randomUUID } from 'node:crypto'
import type { BranchId, SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { type Audience, waitMsMax } from './audience.ts'
import type { SessionNote, SessionNoteStore } from '../ports/session-note-store.ts'

export interface OtherServersParts {
  readonly branch: BranchId
  readonly store: SessionNoteStore
  readonly clock: Clock
  readonly lookMs: number
  /** The sessions connected to this server. */
  readonly audience: Audience
  /** Writers whose place in the lease record has not run out, as the store has it now. */
  readonly findLiveWriters: () => Promise<readonly SessionId[]>
}

/** While a caller waits, this server looks so many times as often. */
export const hurry = 5
/** How long it goes on so after the last question: the next one is likely. */
const hurryMs = 1000
/** A note this old of a session that is no writer was left behind. */
const leftMs = 60_000

/**
 * Servers wait for each other's read-write sessions through notes in the store. The server that waits asks about a
 * place in the log; the server that has the session finds the question when it looks, and tells when the session has
 * applied everything up to there. A branch without changes costs nothing.
 */
export class OtherServers {
  readonly #parts: OtherServersParts
  readonly #id = randomUUID()
  #seq = -1
  #movedAtMs = 0
  #hurriesUntilMs = 0

  constructor(parts: OtherServersParts) {
    this.#parts = parts
  }

  /**
   * Before the session counts as a writer, and before it takes the place in the log from which it follows: a server
   * that does not find the note has written nothing that the session could miss.
   */
  join(session: SessionId): Promise<void> {
    const { store, branch, clock } = this.#parts
    return store.put(branch, { session, server: this.#id, sinceMs: clock.nowMs() })
  }

  async leave(session: SessionId): Promise<void> {
    const { store, branch } = this.#parts
    await store.remove(branch, session, this.#id)
  }

  /** Whether the session is connected to some other server, as far as that could say so. */
  async has(session: SessionId): Promise<boolean> {
    const { store, branch } = this.#parts
    const notes = await store.list(branch)
    return notes.some((note) => note.session === session && note.server !== this.#id)
  }

  /** How long to wait before the next look at what other servers did. */
  get lookMs(): number {
    const { lookMs, clock } = this.#parts
    return clock.nowMs() < this.#hurriesUntilMs ? lookMs / hurry : lookMs
  }

  /** Tells other servers what they asked about. `seq` is the end of the log. */
  async answer(seq: number): Promise<void> {
    const { audience, branch, clock, store } = this.#parts
    if (audience.isEmpty) return
    const nowMs = clock.nowMs()
    if (seq !== this.#seq) [this.#seq, this.#movedAtMs] = [seq, nowMs]
    // No caller waits for longer than that.
    if (nowMs - this.#movedAtMs > waitMsMax) return
    for (const { session, server, seen, asked } of await store.list(branch)) {
      if (server !== this.#id || seen >= asked) continue
      this.#hurriesUntilMs = nowMs + hurryMs
      const seenNow = audience.seenBy(session) ?? 0
      if (seenNow > seen) await store.tell(branch, session, seenNow)
    }
  }

  /**
   * Resolves when all sessions at other servers but `except` have applied the log up to `seq`, or are gone. False when
   * some had not after `waitMsMax`.
   */
  async whenSeen(seq: number, except: SessionId | undefined): Promise<boolean> {
    const { branch, clock, lookMs, store } = this.#parts
    const lateAtMs = clock.nowMs() + waitMsMax
    const asked = new Set<SessionId>()
    for (;;) {
      try {
        const behind = await this.#findBehind(seq, except)
        if (behind.length === 0) return true
        for (const session of behind) {
          if (asked.has(session)) continue
          await store.ask(branch, session, seq)
          asked.add(session)
        }
      } catch {
        // A store that does not answer now is asked again.
      }
      if (clock.nowMs() >= lateAtMs) return false
      await clock.sleep(lookMs / hurry)
    }
  }

  async #findBehind(seq: number, except: SessionId | undefined): Promise<readonly SessionId[]> {
    const { store, branch, audience, findLiveWriters } = this.#parts
    const behind = (await store.list(branch)).filter(
      ({ session, server, seen }) =>
        server !== this.#id &&
        seen < seq &&
        session !== except &&
        audience.seenBy(session) === undefined,
    )
    if (behind.length === 0) return []
    const live = new Set(await findLiveWriters())
    const [waitedFor, gone] = [true, false].map((isLive) =>
      behind.filter(({ session }) => live.has(session) === isLive),
    )
    await this.#removeLeft(gone!)
    return waitedFor!.map(({ session }) => session)
  }

  /** A server that died leaves its notes. Young ones may be of sessions that are about to join. */
  async #removeLeft(notes: readonly SessionNote[]): Promise<void> {
    const { store, branch, clock } = this.#parts
    const endMs = clock.nowMs() - leftMs
    for (const { session, server, sinceMs } of notes)
      if (sinceMs < endMs) await store.remove(branch, session, server)
  }
}
