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

  /** Makes a change that adds no more than what is left. Its batch carries the charge. */
  spend<T>(change: (left: Usage) => Promise<T>): Promise<T> {
    return this.#line.take(async () => change(await this.left()))
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
    const [bytes, files] = [Math.max(0, added.bytes), Math.max(0, added.files)]
    return bytes > 0 || files > 0 ? { account: this.#token, bytes, files } : undefined
  }
}

/** One after the other: those who share a budget stand in the same. */
export class Line {
  #last: Promise<unknown> = Promise.resolve()

  take<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

/** Refuses what adds more than is left. */
export function requireLeft(added: Usage, left: Usage): void {
  for (const what of ['bytes', 'files'] as const)
    if (added[what] > 0 && added[what] > left[what])
      throw new CairnError('quota_exceeded', {
        what: 'write',
        reason: `it would add ${added[what]} ${what}, the token may add ${left[what]} more`,
      })
}
