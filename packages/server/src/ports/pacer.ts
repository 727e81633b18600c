import type { Pacer } from '@cairn/core'
import { textWorker } from './text-worker.ts'

/**
 * How long walks go on in one turn of the event loop. Another client's small request takes two or three turns: with 3 ms
 * it stays below 10 ms beside any walk. Handing over costs some microseconds.
 */
const turnMs = 3

/**
 * Shares the event loop between all walks of this process. One of those that rest goes on in each turn, the longest
 * resting first; between turns Node serves sockets and timers.
 */
class LoopPacer implements Pacer {
  #beginMs = 0
  #isMarked = false
  readonly #resting: (() => void)[] = []

  isDue(): boolean {
    const nowMs = performance.now()
    if (!this.#isMarked) this.#mark(nowMs)
    return nowMs - this.#beginMs > turnMs
  }

  rest(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#resting.push(resolve) === 1) setImmediate(this.#wake)
    })
  }

  readonly mergeText: NonNullable<Pacer['mergeText']> = (base, ours, theirs) =>
    textWorker.run({ type: 'merge', base, ours, theirs })

  /** The first walk of a turn begins its time; what came before it in the turn was no walk. */
  #mark(nowMs: number): void {
    this.#beginMs = nowMs
    this.#isMarked = true
    setImmediate(() => (this.#isMarked = false))
  }

  readonly #wake = (): void => {
    this.#mark(performance.now())
    this.#resting.shift()?.()
    if (this.#resting.length > 0) setImmediate(this.#wake)
  }
}

/** There is one event loop, so there is one of these. */
export const loopPacer: Pacer = new LoopPacer()
