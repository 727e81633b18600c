import { randomUUID } from 'node:crypto'
import { sessionIds } from '@cairn/core'
import type { SessionId } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { isOverdue } from './lease.ts'
import type { LeaseKeeper } from './lease-keeper.ts'

interface Turn {
  readonly session: SessionId
  writes: number
}

/**
 * Writes of this server that come without a session. Those that wait for the lease at the same time are one writer: a
 * thousand requests are one row in the lease record, and one question to the store while they wait.
 */
export class Turns {
  readonly #keeper: LeaseKeeper
  readonly #clock: Clock
  #turn: Turn | undefined
  #looking: Promise<void> | undefined

  constructor(keeper: LeaseKeeper, clock: Clock) {
    this.#keeper = keeper
    this.#clock = clock
  }

  /** Rejects with `stale_epoch` when another writer got the lease meanwhile. */
  async take<T>(write: (epoch: number) => Promise<T>): Promise<T> {
    const keeper = this.#keeper
    // This server's knowledge may be stale. That is safe: no session gets the lease in an epoch that others write in.
    if (keeper.record.holder === undefined) return write(keeper.record.epoch)
    const turn = (this.#turn ??= { session: sessionIds.turnSession(randomUUID()), writes: 0 })
    turn.writes++
    try {
      await this.#whenWritable(turn.session)
      return await write(keeper.record.epoch)
    } finally {
      await this.#end(turn)
    }
  }

  async #end(turn: Turn): Promise<void> {
    if (--turn.writes > 0) return
    this.#turn = undefined
    // It has been written or not, whatever becomes of this: a turn that cannot be ended runs out.
    await this.#keeper.leave(turn.session).catch(() => undefined)
  }

  /** Resolves when `session` may write: it holds the lease, or no session does. A silent holder is passed over. */
  async #whenWritable(session: SessionId): Promise<void> {
    await this.#keeper.join(session)
    for (;;) {
      const { holder } = this.#keeper.record
      if (holder === undefined || holder === session) return
      this.#looking ??= this.#look(session).finally(() => (this.#looking = undefined))
      await this.#looking
    }
  }

  async #look(session: SessionId): Promise<void> {
    const keeper = this.#keeper
    const { recalled } = await keeper.nextLook()
    const isLate = isOverdue(keeper.record, this.#clock.nowMs())
    const isAnySilent = [...keeper.holders, session].some((other) => this.#isSilent(other))
    if (!recalled || isLate || isAnySilent) await keeper.join(session)
  }

  #isSilent(session: SessionId): boolean {
    const writer = this.#keeper.record.writers.find((other) => other.session === session)
    return writer === undefined || writer.expiresAtMs <= this.#clock.nowMs()
  }
}
