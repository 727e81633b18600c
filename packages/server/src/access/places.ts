import type { Access } from './access.ts'

/** How many of something may be under way at this server: of all, and of one owner, token or address. */
export interface PlaceLimits {
  readonly all: number
  readonly owner: number
  readonly token: number
  readonly address: number
}

/** No client can take every place, so there is always room for another one. */
export const ordinaryPlaces: PlaceLimits = { all: 2000, owner: 1500, token: 200, address: 1500 }

/** Counts who has how many. */
export class Places {
  readonly #limits: PlaceLimits
  readonly #what: string
  readonly #taken = new Map<string, number>()

  /** `what` they are, as in "has 3 sessions open". */
  constructor(limits: PlaceLimits, what: string) {
    this.#what = what
    this.#limits = limits
  }

  /** Gives what frees the place again, once; or says why there is none. */
  take({ owner, actor, scope }: Access, address: string): (() => void) | string {
    const { all, token, address: ofAddress, owner: ofOwner } = this.#limits
    const wanted: [key: string, most: number, whose: string][] = [
      ['all', all, 'this server has'],
      [`owner ${owner}`, ofOwner, 'its owner has'],
      [`address ${address}`, ofAddress, 'this address has'],
      ...(scope ? [[`token ${actor}`, token, 'this token has'] as [string, number, string]] : []),
    ]
    for (const [key, most, whose] of wanted)
      if (this.#count(key) >= most)
        return `${whose} ${this.#count(key)} ${this.#what}, and takes no more`
    for (const [key] of wanted) this.#add(key, 1)
    let isFree = false
    return () => {
      if (!isFree) for (const [key] of wanted) this.#add(key, -1)
      isFree = true
    }
  }

  #count(key: string): number {
    return this.#taken.get(key) ?? 0
  }

  #add(key: string, by: number): void {
    const count = this.#count(key) + by
    if (count > 0) this.#taken.set(key, count)
    else this.#taken.delete(key)
  }
}
