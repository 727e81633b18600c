import { addUsage, noUsage, type Usage } from '@cairn/core'
import { growthIn } from '../leases/over-budget.ts'
import { RoomDivision, type RoomHolder } from '../leases/room-division.ts'

/** What one session may add under a token, and acknowledges before the server hears of it. */
export class BudgetShare {
  /** Belongs to the connection that the session has now. */
  holder: RoomHolder
  /** Its epoch is over: it acknowledges nothing more. */
  readonly isOver: () => boolean
  /** All that it may ever use. */
  #most: Usage = noUsage
  /** Used of that, what is still on its way to the log included. */
  #taken: Usage = noUsage
  /** What the database knows of it. */
  #charged: Usage = noUsage

  constructor(holder: RoomHolder, isOver: () => boolean) {
    this.holder = holder
    this.isOver = isOver
  }

  /** What is counted and perhaps not charged yet. */
  onItsWay(): Usage {
    return less(this.#taken, this.#charged)
  }

  /** What no other may use. */
  held(): Usage {
    return less(this.#most, this.#charged)
  }

  /** What it has not submitted anything for. */
  unused(): Usage {
    return less(this.#most, this.#taken)
  }

  raise(by: Usage): void {
    this.#most = addUsage(this.#most, by)
  }

  /** It has acknowledged no more than what was taken. */
  giveBack(): void {
    this.#most = this.#taken
  }

  /** Draws more than its share while `work` runs: that much is free. */
  async drawing<T>(free: Usage, work: () => Promise<T>): Promise<T> {
    const most = this.#most
    this.raise(free)
    try {
      return await work()
    } finally {
      this.#most = {
        bytes: Math.max(most.bytes, this.#taken.bytes),
        files: Math.max(most.files, this.#taken.files),
      }
    }
  }

  /** For a batch, in its turn. */
  take(added: Usage): void {
    this.#taken = addUsage(this.#taken, growthIn(added))
  }

  /** The batch was not taken after all. */
  drop(added: Usage): void {
    this.#taken = less(this.#taken, growthIn(added))
  }

  noteCharged(added: Usage): void {
    this.#charged = addUsage(this.#charged, growthIn(added))
  }
}

export function less(a: Usage, b: Usage): Usage {
  return { bytes: a.bytes - b.bytes, files: a.files - b.files }
}

/** Adds to the tree under a token without having a share. */
export interface Spender {
  /** Counted, and perhaps not charged yet. */
  onItsWay(): Usage
}

/** What those that share a budget share, on one server: a place where one at a time draws from what is free. */
export class Line {
  readonly division: RoomDivision = new RoomDivision()
  readonly spenders: Set<Spender> = new Set()
  /** Grows with each share that becomes larger, and with each turn: what was read before may not be free any more. */
  mark = 0
  readonly #shares = new Map<string, BudgetShare>()
  #turns = 0
  #last: Promise<unknown> = Promise.resolve()
  /** A holder was told less than it could have. */
  #isOwing = false

  get shares(): readonly BudgetShare[] {
    for (const [key, share] of this.#shares) if (share.isOver()) this.#shares.delete(key)
    return [...this.#shares.values()]
  }

  /** The share of a session that comes back is what it was. */
  join(key: string, holder: RoomHolder, isOver: () => boolean): BudgetShare {
    const known = this.#shares.get(key)
    if (known && !known.isOver()) {
      known.holder = holder
      return known
    }
    const share = new BudgetShare(holder, isOver)
    this.#shares.set(key, share)
    return share
  }

  /** Whether shares may become larger now. */
  get isFree(): boolean {
    this.#isOwing ||= this.#turns > 0
    return this.#turns === 0
  }

  /** One after the other. */
  take<T>(work: () => Promise<T>): Promise<T> {
    this.#turns++
    const turn = this.#last.then(() => {
      this.mark++
      return work()
    })
    this.#last = turn.catch(() => undefined).finally(() => this.#end())
    return turn
  }

  #end(): void {
    this.mark++
    if (--this.#turns > 0 || !this.#isOwing) return
    this.#isOwing = false
    for (const { holder } of this.shares) holder.tell()
  }
}
