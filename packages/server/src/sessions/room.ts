import { addUsage, type Branch, type Limits, type Usage } from '@cairn/core'
import type { SessionId, SessionReply } from '@cairn/protocol'
import type { BudgetShare } from '../access/budget-share.ts'
import type { SessionScope } from '../access/session-scope.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import { endLease } from '../leases/promised-room.ts'
import type { RoomHolder } from '../leases/room-division.ts'
import type { Quotas } from '../workspaces/quotas.ts'

type RoomReply = Extract<SessionReply, { type: 'room' | 'share' }>

export interface RoomParts {
  readonly session: SessionId
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly quotas: Quotas
  readonly scope: SessionScope | undefined
  /** Has the other end count on no room and hand in. False where it cannot be asked, or does not answer. */
  readonly askBack: () => Promise<boolean>
  /** Tells the other end what it may count on. */
  readonly tell: () => void
}

const unlimited: Limits = { bytes: Infinity, files: Infinity }

/** How large a session's tree may become, and what of the room that is left the session may acknowledge by. */
export class Room {
  readonly #parts: RoomParts
  readonly #ofQuota: RoomHolder
  readonly #ofBudget: RoomHolder
  #limits: Limits | undefined
  /** What is left of the budget. */
  #left: Usage = unlimited
  #share: BudgetShare | undefined
  #holds = false
  #isTold = false

  constructor(parts: RoomParts) {
    this.#parts = parts
    const { session, keeper, tell } = parts
    this.#ofQuota = {
      giveBack: async () => {
        await this.#giveBack()
        keeper.room.end(session)
      },
      tell,
    }
    this.#ofBudget = {
      giveBack: async () => {
        await this.#giveBack()
        this.#share?.giveBack()
      },
      tell,
    }
  }

  /** What it was promised stays its own until its epoch ends: it may be cut off, and acknowledge all the same. */
  end(): void {
    const { keeper, session } = this.#parts
    keeper.room.leave(session, this.#ofQuota)
  }

  async #giveBack(): Promise<void> {
    const { askBack, keeper } = this.#parts
    if (!(await askBack())) await endLease(keeper)
  }

  /** What the session has of the budget. One that comes back may send before it is told anything. */
  get share(): BudgetShare | undefined {
    return (this.#share ??= this.#join())
  }

  #join(): BudgetShare | undefined {
    const { scope, session, branch, keeper } = this.#parts
    const { epoch } = keeper.record
    const isOver = (): boolean => keeper.record.epoch !== epoch || !keeper.holds(session)
    return scope?.budget?.join(`${branch.id} ${session} ${epoch}`, this.#ofBudget, isOver)
  }

  /** Before it hears how it may write. */
  async begin(holds: boolean): Promise<void> {
    const { keeper, session, quotas, branch } = this.#parts
    this.#holds = holds
    this.#limits = await quotas.limitsOf(branch, true)
    this.#share = holds ? this.#join() : undefined
    if (holds) keeper.room.join(session, this.#ofQuota)
    await this.#lookAtBudget()
  }

  /** While it may be acknowledging. */
  async raise(): Promise<void> {
    const { quotas, branch } = this.#parts
    await this.#lookAtBudget()
    if (this.#limits) this.#limits = await quotas.limitsOf(branch)
  }

  async #lookAtBudget(): Promise<void> {
    const budget = this.#parts.scope?.budget
    if (budget) this.#left = await budget.look(this.#share)
  }

  /** Whether there is anything to say. */
  get isLimited(): boolean {
    return this.#limits !== undefined || this.#isTold || this.#parts.scope?.budget !== undefined
  }

  /** What to say, each time: the other end counts down what it acknowledges, and forgets that when it hears this. */
  tell(used: Usage): readonly RoomReply[] {
    const limits = this.#limits ?? unlimited
    const most = leastOf(limits, addUsage(used, this.#left))
    const room = notBelowNothing({ bytes: most.bytes - used.bytes, files: most.files - used.files })
    this.#isTold = true
    // A client that sees a part must not learn the total.
    const { bytes, files } = this.#parts.scope?.seesAll === false ? room : most
    const said: RoomReply = {
      type: 'room',
      ...finite(room),
      maxBytes: finite({ bytes, files }).bytes,
      maxFiles: finite({ bytes, files }).files,
    }
    return this.#holds ? [this.#describeShare(limits, used), said] : [said]
  }

  #describeShare(limits: Limits, used: Usage): RoomReply {
    const { keeper, session, scope } = this.#parts
    const ofQuota = keeper.room.share(session, limits, used)
    const budget = this.#share && scope?.budget
    const share = budget ? leastOf(ofQuota, budget.available(this.#share!)) : ofQuota
    return { type: 'share', id: 0, ...finite(notBelowNothing(share)) }
  }
}

function leastOf(a: Limits, b: Limits): Limits {
  return { bytes: Math.min(a.bytes, b.bytes), files: Math.min(a.files, b.files) }
}

function notBelowNothing({ bytes, files }: Usage): Usage {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
}

function finite({ bytes, files }: Usage): Usage {
  const most = Number.MAX_SAFE_INTEGER
  return { bytes: Math.min(bytes, most), files: Math.min(files, most) }
}
