import { addUsage, type Charge, type Limits, noUsage, type Usage } from '@cairn/core'
import type { Grant } from '@cairn/protocol'
import { growthIn, isOverBudget, requireLeft } from '../leases/over-budget.ts'
import { isNothing, type RoomHolder, shareOf, toldShare } from '../leases/room-division.ts'
import type { TokenStore } from '../ports/token-store.ts'
import { type BudgetShare, less, type Line, type Spender } from './budget-share.ts'

/**
 * How much a token may add in its whole life; what it takes away is not given back. What it has used is a row in the
 * database, raised in the transaction that puts the change into the log: no crash comes between them. Holders of leases
 * add within their shares. Otherwise one at a time asks and adds, so one server never lets two through for the room of one.
 */
export class Budget {
  readonly #store: TokenStore
  readonly #token: string
  readonly #limits: Limits
  readonly #line: Line

  constructor(store: TokenStore, token: string, line: Line, { maxBytes, maxFiles }: Grant) {
    this.#store = store
    this.#token = token
    this.#line = line
    this.#limits = { bytes: maxBytes ?? Infinity, files: maxFiles ?? Infinity }
  }

  /** What is left at this moment. */
  async left(): Promise<Usage> {
    const used = await this.#used()
    return {
      bytes: Math.max(0, this.#limits.bytes - used.bytes),
      files: Math.max(0, this.#limits.files - used.files),
    }
  }

  /**
   * Makes a change that adds no more than what is left beside the shares. Its batch carries the charge. `adds` hears what
   * the change adds each time it is decided.
   */
  spend<T>(change: (left: Usage, adds: (added: Usage) => void) => Promise<T>): Promise<T> {
    return this.#drawing(undefined, async () => {
      let spending = noUsage
      const spender: Spender = { onItsWay: () => spending }
      const left = await this.#leftBeside(this.#held())
      this.#line.spenders.add(spender)
      try {
        return await change(left, (added) => (spending = growthIn(added)))
      } finally {
        this.#line.spenders.delete(spender)
      }
    })
  }

  /** The same for a holder whose share is too small. It has handed in what it acknowledged. */
  spendShare<T>(share: BudgetShare, change: () => Promise<T>): Promise<T> {
    return this.#drawing(share, async () => {
      const { bytes, files } = await this.#leftBeside(this.#held())
      const free = {
        bytes: this.#limits.bytes === Infinity ? 0 : bytes,
        files: this.#limits.files === Infinity ? 0 : files,
      }
      return share.drawing(growthIn(free), change)
    })
  }

  #drawing<T>(share: BudgetShare | undefined, attempt: () => Promise<T>): Promise<T> {
    const line = this.#line
    const others = (): readonly RoomHolder[] =>
      line.shares
        .filter((other) => other !== share && !isNothing(other.held()))
        .map(({ holder }) => holder)
    const taker = { by: share?.holder, others, isShort: isOverBudget }
    return line.take(() => line.division.whenRoom(taker, attempt))
  }

  /** For a batch of a holder, in its turn. Throws OverBudget where its share is too small. */
  takeFrom(share: BudgetShare, added: Usage): void {
    requireLeft(added, this.#unused(share))
    share.take(added)
  }

  covers(share: BudgetShare, { bytes, files }: Usage): boolean {
    const unused = this.#unused(share)
    return bytes <= unused.bytes && files <= unused.files
  }

  /** What nothing limits is in no share. */
  #unused(share: BudgetShare): Limits {
    return toldShare(share.unused(), this.#limits)
  }

  /** A session may acknowledge within a share from now on. */
  join(session: string, holder: RoomHolder, isOver: () => boolean): BudgetShare {
    return this.#line.join(session, holder, isOver)
  }

  /** What is left in all. The share of a holder grows with what is free of that. */
  async look(share: BudgetShare | undefined): Promise<Usage> {
    const line = this.#line
    // Both before what is read: what is charged meanwhile must not count as free.
    const [held, { mark }] = [this.#held(), line]
    const left = await this.left()
    const mayGrow = share && line.division.mayHold(share.holder) && line.isFree
    if (mayGrow && mark === line.mark) this.#raise(share, left, less(left, held))
    return left
  }

  #raise(share: BudgetShare, left: Usage, free: Usage): void {
    const line = this.#line
    const parts = line.shares.length + (line.division.gathered > 0 ? 1 : 0)
    const before = share.held()
    const more = growthIn(less(shareOf({ held: before, free, left }, parts), before))
    if (!isNothing(more)) line.mark++
    share.raise(more)
  }

  /** What a holder may count on, besides what it has submitted. */
  available(share: BudgetShare): Limits {
    if (this.#line.division.mayHold(share.holder)) return this.#unused(share)
    return toldShare(noUsage, this.#limits)
  }

  /**
   * For a holder of a lease, whose batch is on its way. Another holder under the token, at another server, may have used
   * what this one was told of.
   */
  async requireCovered(added: Usage): Promise<void> {
    for (let look = 1; !isCovered(await this.#leftBeside(noUsage)); look++) {
      // What was charged just now may still count as on its way.
      if (look === looksMax) requireLeft(added, noUsage)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** What the shares are and what is not charged yet. */
  #held(): Usage {
    return this.#line.shares.reduce((sum, share) => addUsage(sum, share.held()), noUsage)
  }

  /** Less than nothing where more is on its way than is left. */
  async #leftBeside(held: Usage): Promise<Usage> {
    const { shares, spenders } = this.#line
    const left = less(await this.left(), held)
    const onTheirWay = held === noUsage ? [...shares, ...spenders] : [...spenders]
    return onTheirWay.reduce((rest, spender) => less(rest, spender.onItsWay()), left)
  }

  /**
   * Room for late writes. They were acknowledged when there was room, which others under the same token may have used
   * since. So they may overdraw the budget, by as much again at most: the rest is for the owner to decide.
   */
  async requireOverdraft(added: Usage): Promise<void> {
    const used = await this.#used()
    requireLeft(added, {
      bytes: Math.max(0, 2 * this.#limits.bytes - used.bytes),
      files: Math.max(0, 2 * this.#limits.files - used.files),
    })
  }

  async isOverdrawn(): Promise<boolean> {
    const { bytes, files } = await this.#used()
    return bytes > this.#limits.bytes || files > this.#limits.files
  }

  async #used(): Promise<Usage> {
    return (await this.#store.find(this.#token))?.used ?? noUsage
  }

  /** For a batch that adds so much. */
  chargeOf(added: Usage): Charge | undefined {
    const { bytes, files } = growthIn(added)
    return bytes > 0 || files > 0 ? { account: this.#token, bytes, files } : undefined
  }
}

/** A charge is known a turn after it is made. */
const looksMax = 5

function isCovered({ bytes, files }: Usage): boolean {
  return bytes >= 0 && files >= 0
}
