import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'
import type { Chance } from '../model/chance.ts'

interface Waiting {
  readonly whose: string | undefined
  readonly go: () => void
}

/**
 * Decides who goes next while several requests race. Every call to a store waits for its turn twice: before it happens,
 * and before the caller learns of it. Between two turns everything that can run does.
 */
export class Turns {
  readonly #whose = new AsyncLocalStorage<string>()
  #waiting: Waiting[] = []
  #isRacing = false

  /** The same store; while requests race, its calls wait for their turns. */
  around<Store extends object>(store: Store): Store {
    return new Proxy(store, {
      get: (target, key) => {
        const member: unknown = Reflect.get(target, key)
        if (typeof member !== 'function') return member
        // It gives a part of the store, at once.
        if (key === 'draft')
          return (...args: readonly unknown[]): object =>
            this.around(Reflect.apply(member, target, args) as object)
        return async (...args: readonly unknown[]): Promise<unknown> => {
          await this.#turn()
          try {
            return (await Reflect.apply(member, target, args)) as unknown
          } finally {
            await this.#turn()
          }
        }
      },
    })
  }

  /** Starts all of them together and gives their answers. */
  async race<Answer>(
    chance: Chance,
    requests: readonly (() => Promise<Answer>)[],
  ): Promise<readonly Answer[]> {
    this.#isRacing = true
    let left = requests.length
    const answers = requests.map((request, index) =>
      this.#whose.run(String(index), request).finally(() => left--),
    )
    // One in `length` turns changes who runs: a request may pass through a single gap of the other, or go along with it.
    const length = chance.choose([1, 2, 8, 30])
    for (let current = String(chance.below(requests.length)); left > 0;) {
      await setImmediate()
      if (chance.oneIn(length)) current = String(chance.below(requests.length))
      this.#next(chance, current)?.go()
    }
    this.#isRacing = false
    for (const { go } of this.#waiting.splice(0)) go()
    return Promise.all(answers)
  }

  #next(chance: Chance, current: string): Waiting | undefined {
    const own = this.#waiting.filter(({ whose }) => whose === current)
    const next = chance.choose(own.length > 0 ? own : this.#waiting)
    this.#waiting = this.#waiting.filter((each) => each !== next)
    return next
  }

  async #turn(): Promise<void> {
    if (!this.#isRacing) return
    await new Promise<void>((go) => this.#waiting.push({ whose: this.#whose.getStore(), go }))
  }
}
