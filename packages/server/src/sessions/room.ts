import type { Branch, Limits, Usage } from '@cairn/core'
import type { SessionReply } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import type { Quotas } from '../layers/quotas.ts'

type RoomReply = Extract<SessionReply, { type: 'room' }>

/**
 * What a session has been told of how large its tree may become. Whoever acknowledges by it is held to it and to
 * nothing less: a quota that was lowered since counts from the next lease on.
 */
export class Room {
  readonly #branch: Branch
  readonly #quotas: Quotas
  readonly #scope: SessionScope | undefined
  /** Of the budget. */
  #left: Usage = { bytes: Infinity, files: Infinity }
  #limits: Limits | undefined
  #isTold = false

  constructor(branch: Branch, quotas: Quotas, scope?: SessionScope) {
    this.#branch = branch
    this.#quotas = quotas
    this.#scope = scope
  }

  get limits(): Limits | undefined {
    return this.#limits
  }

  /** Before a lease is given: nothing is acknowledged at this moment. */
  async begin(): Promise<void> {
    this.#limits = await this.#quotas.limitsOf(this.#branch, true)
    await this.#lookAtBudget()
  }

  /** While it may be acknowledging. */
  async raise(): Promise<void> {
    await this.#lookAtBudget()
    if (!this.#limits) return
    const limits = await this.#quotas.limitsOf(this.#branch)
    this.#limits = limits && {
      bytes: Math.max(limits.bytes, this.#limits.bytes),
      files: Math.max(limits.files, this.#limits.files),
    }
  }

  /** Whether there is anything to say. */
  get isLimited(): boolean {
    return this.#limits !== undefined || this.#isTold || this.#scope?.budget !== undefined
  }

  /** What to say, each time: the other end counts down what it acknowledges, and forgets that when it hears this. */
  tell(used: Usage): RoomReply {
    const { bytes, files } = this.#mostBy(used)
    this.#isTold = true
    const room = {
      bytes: finite(Math.max(0, bytes - used.bytes)),
      files: finite(Math.max(0, files - used.files)),
    }
    // How much is there in all is not for whoever sees a part.
    const most =
      this.#scope?.seesAll === false ? room : { bytes: finite(bytes), files: finite(files) }
    return { type: 'room', ...room, maxBytes: most.bytes, maxFiles: most.files }
  }

  #mostBy(used: Usage): Limits {
    const { bytes, files } = this.#limits ?? { bytes: Infinity, files: Infinity }
    return {
      bytes: Math.min(bytes, used.bytes + this.#left.bytes),
      files: Math.min(files, used.files + this.#left.files),
    }
  }

  async #lookAtBudget(): Promise<void> {
    const budget = this.#scope?.budget
    if (budget) this.#left = await budget.left()
  }
}

function finite(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
