import type { Pacer } from '@cairn/core'

/** How often a file has each word of a question, and how long it is. */
export interface Counted {
  /** Unequal for unequal files: what decides between equal scores. */
  readonly path: string
  readonly bytes: number
  readonly counts: readonly number[]
}

export interface Scored<File> {
  readonly file: File
  readonly score: number
}

/** The usual constants of BM25: how soon a word that is repeated adds nothing, and how much the length of a file counts. */
const saturation = 1.2
const lengthShare = 0.75
const filesAtOnce = 1000

/**
 * Ranks by BM25. Its statistics are over the files that are added: those that the asker sees and that have a word of the
 * question. So neither a hidden file nor the state of an index has a say in the order.
 */
export class Ranker<File extends Counted> {
  readonly #files: File[] = []
  /** How many files have each word. */
  readonly #having: number[]
  #bytes = 0

  constructor(words: number) {
    this.#having = Array.from({ length: words }, () => 0)
  }

  get count(): number {
    return this.#files.length
  }

  /** Leaves out a file that has none of the words. */
  add(file: File): void {
    if (!file.counts.some((count) => count > 0)) return
    this.#files.push(file)
    this.#bytes += file.bytes
    for (const [word, count] of file.counts.entries()) if (count > 0) this.#having[word]!++
  }

  /** What each word is worth: rare ones say more. */
  weights(): readonly number[] {
    return this.#having.map((having) => Math.log(1 + (this.count - having + 0.5) / (having + 0.5)))
  }

  /** The best first. */
  async best(most: number, pacer: Pacer): Promise<readonly Scored<File>[]> {
    const weights = this.weights()
    const mean = this.#bytes / Math.max(1, this.count)
    let best: Scored<File>[] = []
    for (let at = 0; at < this.count; at += filesAtOnce) {
      if (pacer.isDue()) await pacer.rest()
      const some = this.#files.slice(at, at + filesAtOnce)
      const scored = some.map((file) => ({ file, score: scoreOf(file, weights, mean) }))
      best = [...best, ...scored].sort(compareScores).slice(0, most)
    }
    return best
  }
}

function compareScores(a: Scored<Counted>, b: Scored<Counted>): number {
  return b.score - a.score || (a.file.path < b.file.path ? -1 : 1)
}

function scoreOf({ bytes, counts }: Counted, weights: readonly number[], mean: number): number {
  const length = 1 - lengthShare + lengthShare * (bytes / Math.max(1, mean))
  return weights.reduce((sum, weight, word) => {
    const count = counts[word]!
    return sum + (weight * count * (saturation + 1)) / (count + saturation * length)
  }, 0)
}
