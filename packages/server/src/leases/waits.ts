import { FsError } from '@cairn/protocol'

/** Each looks at the store again and again. */
const waitsMax = 1000

/** The locks that one connection waits for, by the number of the question. */
export class Waits {
  readonly #waiting = new Map<number, AbortController>()

  begin(question: number): AbortSignal {
    if (this.#waiting.size >= waitsMax) throw new FsError('ENOLCK')
    const controller = new AbortController()
    this.#waiting.set(question, controller)
    return controller.signal
  }

  end(question: number): void {
    this.#waiting.delete(question)
  }

  cancel(question: number): void {
    this.#waiting.get(question)?.abort()
  }

  endAll(): void {
    for (const controller of this.#waiting.values()) controller.abort()
  }
}
