import type { SessionRequest } from '@cairn/protocol'

type Ask = Extract<SessionRequest, { readonly id: number }>

/** A question without its number. */
export type Question = Ask extends infer Each
  ? Each extends Ask
    ? Omit<Each, 'id'>
    : never
  : never

interface Asked {
  readonly ask: Ask
  /** Nobody waits for it any more; still, its answer tells what became of it. */
  isCancelled: boolean
  readonly answered: PromiseWithResolvers<Uint8Array>
}

/** What was asked and not answered. It is asked again over each new connection. */
export class Questions {
  readonly #asked = new Map<number, Asked>()
  #lastId = 0

  add(question: Question): Asked {
    const id = ++this.#lastId
    const ask = { ...question, id } as Ask
    const asked = { ask, isCancelled: false, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    return asked
  }

  /** Undefined when it has been answered before. */
  take(id: number): PromiseWithResolvers<Uint8Array> | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    return asked?.answered
  }

  /** Undefined when it has been answered before. */
  cancel(id: number): SessionRequest | undefined {
    const asked = this.#asked.get(id)
    if (!asked) return undefined
    asked.isCancelled = true
    return { type: 'cancel', question: id }
  }

  /** What a new connection is sent. */
  get open(): readonly SessionRequest[] {
    return [...this.#asked.values()].flatMap(({ ask, isCancelled }) =>
      isCancelled ? [ask, { type: 'cancel', question: ask.id }] : [ask],
    )
  }

  failAll(error: unknown): void {
    for (const { answered } of this.#asked.values()) answered.reject(error)
    this.#asked.clear()
  }
}
