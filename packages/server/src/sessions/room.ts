import { addUsage, type Branch, type Limits, noUsage, type Usage } from '@cairn/core'
import type { SessionReply } from '@cairn/protocol'
import { growthIn, type Holder, requireLeft } from '../access/budget.ts'
import type { SessionScope } from '../access/session-scope.ts'
import type { Quotas } from '../workspaces/quotas.ts'

type RoomReply = Extract<SessionReply, { type: 'room' }>

/**
 * How large a session's tree may become, as the session knows it. A session that acknowledges by it
 * is held to it and to nothing less: a quota that was lowered since counts from the next lease on.
 */
export class Room implements Holder {
  readonly #branch: Branch
  readonly #quotas: Quotas
  readonly #scope: SessionScope | undefined
  readonly #handOver: () => void
  /** What is left of the budget. */
  #left: Usage = { bytes: Infinity, files: Infinity }
  #limits: Limits | undefined
  /**
   * All that this connection may ever use of the budget; raised when the session learns of more.
   */
  #most: Usage = noUsage
  /** Used of that, what is still on its way to the log included. */
  #taken: Usage = noUsage
  /** What the database knows of it. */
  #charged: Usage = noUsage
  #begun: Promise<void> | undefined
  #isTold = false

  /** `handOver` ends a lease so that the session gets another one. */
  constructor(branch: Branch, quotas: Quotas, handOver: () => void, scope?: SessionScope) {
    this.#branch = branch
    this.#quotas = quotas
    this.#handOver = handOver
    this.#scope = scope
  }

  onItsWay(): Usage {
    const { bytes, files } = this.#taken
    return { bytes: bytes - this.#charged.bytes, files: files - this.#charged.files }
  }

  held(): Usage {
    const { bytes, files } = this.#most
    return { bytes: bytes - this.#charged.bytes, files: files - this.#charged.files }
  }

  divide(): void {
    this.#handOver()
  }

  /** It acknowledges nothing more. */
  end(): void {
    this.#scope?.budget?.leave(this)
  }

  /**
   * The lease holder stays within these, also while it is asked to hand the lease back. Over a new
   * connection today's limits count.
   */
  async heldTo(): Promise<Limits | undefined> {
    await this.ready()
    return this.#limits
  }

  /** A holder that comes back may send before it is told anything. */
  ready(): Promise<void> {
    return this.#begun ?? this.begin(true)
  }

  /** Before a lease is given, or when another session has it: nothing is acknowledged at this moment. */
  begin(holds: boolean): Promise<void> {
    this.#begun = this.#begin(holds)
    this.#begun.catch(() => (this.#begun = undefined))
    return this.#begun
  }

  async #begin(holds: boolean): Promise<void> {
    this.#limits = await this.#quotas.limitsOf(this.#branch, true)
    // What the session used without a lease was charged at once: it is not left any more.
    this.#most = this.#taken = this.#charged = noUsage
    if (holds) await this.#scope?.budget?.join(this)
    else this.end()
    await this.#lookAtBudget()
  }

  /** For a batch of the holder, in its turn. Throws `quota_exceeded`. */
  take(added: Usage): void {
    requireLeft(added, {
      bytes: Math.max(0, this.#most.bytes - this.#taken.bytes),
      files: Math.max(0, this.#most.files - this.#taken.files),
    })
    this.#taken = addUsage(this.#taken, growthIn(added))
  }

  /** The batch was not taken after all. */
  giveBack(added: Usage): void {
    const { bytes, files } = growthIn(added)
    this.#taken = { bytes: this.#taken.bytes - bytes, files: this.#taken.files - files }
  }

  noteCharged(added: Usage): void {
    this.#charged = addUsage(this.#charged, growthIn(added))
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

  get hasQuota(): boolean {
    return this.#limits !== undefined
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
    // A client that sees a part must not learn the total.
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
    if (!budget) return
    // Read before: what is charged meanwhile must not count as left.
    const charged = this.#charged
    this.#left = await budget.share()
    const most = addUsage(charged, this.#left)
    this.#most = {
      bytes: Math.max(this.#most.bytes, most.bytes),
      files: Math.max(this.#most.files, most.files),
    }
  }
}

function finite(count: number): number {
  return Math.min(count, Number.MAX_SAFE_INTEGER)
}
