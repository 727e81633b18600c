import { makeRandom } from './make-bytes.ts'

/** Choices that look like chance and are the same for the same seed. */
export class Chance {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = makeRandom(seed)
  }

  /** A whole number from 0 up to `end`, which is left out. */
  below(end: number): number {
    return Math.floor(this.#random() * end)
  }

  oneIn(count: number): boolean {
    return this.below(count) === 0
  }

  choose<Choice>(choices: readonly Choice[]): Choice {
    return choices[this.below(choices.length)]!
  }

  shuffle<Item>(items: readonly Item[]): Item[] {
    const left = [...items]
    return items.map(() => left.splice(this.below(left.length), 1)[0]!)
  }
}
