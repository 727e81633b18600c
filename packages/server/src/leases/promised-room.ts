import { type Branch, type Limits, noUsage, RoomPromised, type Usage } from '@cairn/core'
import { isCairnError, type SessionId } from '@cairn/protocol'
import { isOverBudget } from './over-budget.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import { isNothing, RoomDivision, type RoomHolder, shareOf, toldShare } from './room-division.ts'

/** What a branch's quota leaves, divided among the sessions that hold its lease. */
export class PromisedRoom {
  readonly #branch: Branch
  readonly #keeper: LeaseKeeper
  readonly #division = new RoomDivision()
  readonly #connected = new Map<SessionId, RoomHolder>()
  #epoch = 0
  /** How often shares were asked back before this epoch. */
  #gatheredBefore = 0

  constructor(branch: Branch, keeper: LeaseKeeper) {
    this.#branch = branch
    this.#keeper = keeper
  }

  join(session: SessionId, holder: RoomHolder): void {
    this.#connected.set(session, holder)
  }

  leave(session: SessionId, holder: RoomHolder): void {
    if (this.#connected.get(session) === holder) this.#connected.delete(session)
  }

  /** Makes a change as soon as there is room for it; refuses it only where there is none. */
  whenRoom<T>(session: SessionId | undefined, attempt: () => Promise<T>): Promise<T> {
    const by = session === undefined ? undefined : this.#connected.get(session)
    return this.#division.whenRoom({ by, others: () => this.#others(session), isShort }, attempt)
  }

  /** What the session may count on from now on, where the log has all that it was sent. `used` is what the tree holds. */
  share(session: SessionId, limits: Limits, used: Usage): Limits {
    const { reservations } = this.#branch
    const held = reservations.of(session)
    const left = { bytes: limits.bytes - used.bytes, files: limits.files - used.files }
    const holder = this.#connected.get(session)
    if (!holder || !this.#division.mayHold(holder)) return toldShare(noUsage, left)
    if (!this.#isInForce(session)) return toldShare(held, left)
    const share = shareOf({ held, free: reservations.free(limits, used), left }, this.#parts)
    reservations.promise(session, this.#keeper.record.epoch, share)
    return toldShare(share, left)
  }

  /** The session counts on nothing any more. */
  end(session: SessionId): void {
    const { reservations } = this.#branch
    if (reservations.has(session))
      reservations.promise(session, this.#branch.head.position.epoch, noUsage)
  }

  #isInForce(session: SessionId): boolean {
    const { record, holders } = this.#keeper
    const { epoch } = this.#branch.head.position
    return record.epoch === epoch && !record.recalled && holders.includes(session)
  }

  /** One part stays free where others write, so that they need not ask a holder each time. */
  get #parts(): number {
    const { record, holders, hasOthers } = this.#keeper
    if (record.epoch !== this.#epoch) {
      this.#epoch = record.epoch
      this.#gatheredBefore = this.#division.gathered
    }
    const isAlone = !hasOthers && this.#division.gathered === this.#gatheredBefore
    return isAlone ? 1 : holders.length + 1
  }

  #others(session: SessionId | undefined): readonly RoomHolder[] {
    const { reservations } = this.#branch
    const holding = this.#keeper.holders.filter(
      (holder) => holder !== session && !isNothing(reservations.of(holder)),
    )
    return holding.map((holder) => this.#connected.get(holder) ?? this.#silent)
  }

  /** One that is not connected may have acknowledged all that it was promised, until its epoch ends. */
  get #silent(): RoomHolder {
    return { giveBack: () => endLease(this.#keeper), tell: () => undefined }
  }
}

/** All holders hand in, or are passed over. */
export async function endLease(keeper: LeaseKeeper): Promise<void> {
  try {
    await keeper.asTurn(async () => undefined)
  } catch (error) {
    // Another writer has the lease by now, in an epoch of its own.
    if (!isCairnError(error, 'stale_epoch')) throw error
  }
}

function isShort(error: unknown): boolean {
  if (error instanceof RoomPromised) return true
  return isCairnError(error, 'quota_exceeded') && !isOverBudget(error)
}
