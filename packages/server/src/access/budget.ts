import { type Charge, type Limits, noUsage, type Usage } from '@cairn/core'
import { CairnError, type Grant } from '@cairn/protocol'
import type { TokenStore } from '../ports/token-store.ts'

/**
 * How much a token may add in its whole life; what it takes away is not given back. What it has used is a row in the
 * database, raised in the transaction that puts the change into the log: no crash comes between them. One at a time asks and adds, so one server never lets two through for the room of one.
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
   * Makes a change that adds no more than what is left. Its batch carries the charge. `adds` hears what the change adds
   * each time it is decided.
   */
  spend<T>(change: (left: Usage, adds: (added: Usage) => void) => Promise<T>): Promise<T> {
    return this.#line.take(async () => {
      let spending = noUsage
      const spender: Spender = { onItsWay: () => spending }
      const left = await this.#leftBeside()
      this.#line.spenders.add(spender)
      try {
        return await change(left, (added) => (spending = growthIn(added)))
      } finally {
        this.#line.spenders.delete(spender)
      }
    })
  }

  /**
   * For a holder of a lease, whose batch is on its way. Another holder under the token, on another branch or at another
   * server, may have used what this one was told of.
   */
  async requireCovered(added: Usage): Promise<void> {
    for (let look = 1; !isCovered(await this.#leftBeside()); look++) {
      // What was charged just now may still count as on its way.
      if (look === looksMax) requireLeft(added, noUsage)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  /** Less than nothing where more is on its way than is left. */
  async #leftBeside(): Promise<Usage> {
    const left = await this.left()
    let { bytes, files } = left
    for (const spender of this.#line.spenders) {
      const onItsWay = spender.onItsWay()
      bytes -= onItsWay.bytes
      files -= onItsWay.files
    }
    return { bytes, files }
  }

  /** A part of what is left, as large as that of the other holders: what one is told of, no other may use. */
  async share(): Promise<Usage> {
    const { bytes, files } = await this.left()
    const count = Math.max(1, this.#line.holders.size)
    return { bytes: Math.floor(bytes / count), files: Math.floor(files / count) }
  }

  /** Another holder that was told of more than its share is asked to hand over, and told anew. */
  async join(holder: Holder): Promise<void> {
    const { holders, spenders } = this.#line
    if (holders.has(holder)) return
    holders.add(holder)
    spenders.add(holder)
    const share = await this.share()
    for (const other of holders) {
      const { bytes, files } = other.held()
      if (other !== holder && (bytes > share.bytes || files > share.files)) other.divide()
    }
  }

  leave(holder: Holder): void {
    this.#line.holders.delete(holder)
    this.#line.spenders.delete(holder)
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

/** Adds to the tree under a token. */
interface Spender {
  /** Counted, and perhaps not charged yet. */
  onItsWay(): Usage
}

/** Acknowledges what it adds before the server hears of it. */
export interface Holder extends Spender {
  /** What it was told of and is not charged for. */
  held(): Usage
  /** It was told of too much: it hands over soon, and asks for its share. */
  divide(): void
}

/** A charge is known a turn after it is made. */
const looksMax = 5

/** One after the other: those who share a budget stand in the same. */
export class Line {
  /** They acknowledge at the same time, each on a branch of its own. */
  readonly holders: Set<Holder> = new Set()
  readonly spenders: Set<Spender> = new Set()
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

function isCovered({ bytes, files }: Usage): boolean {
  return bytes >= 0 && files >= 0
}

/** What is taken away is not given back to a budget. */
export function growthIn({ bytes, files }: Usage): Usage {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
}

/** Refuses what adds more than is left. */
export function requireLeft(added: Usage, left: Usage): void {
  for (const what of ['bytes', 'files'] as const)
    if (added[what] > 0 && added[what] > left[what])
      throw new CairnError('quota_exceeded', {
        what: 'write',
        reason: `it would add ${added[what]} ${what}, the token may add ${Math.max(0, left[what])} more`,
      })
}
