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
  readonly answered: PromiseWithResolvers<Uint8Array>
}

/** What was asked and not answered. It is asked again over each new connection. */
export class Questions {
  readonly #asked = new Map<number, Asked>()
  #lastId = 0

  add(question: Question): Asked {
    const id = ++this.#lastId
    const asked = { ask: { ...question, id } as Ask, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    return asked
  }

  /** Undefined when it has been answered before. */
  take(id: number): PromiseWithResolvers<Uint8Array> | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    return asked?.answered
  }

  get open(): readonly Ask[] {
    return [...this.#asked.values()].map(({ ask }) => ask)
  }

  failAll(error: unknown): void {
    for (const { answered } of this.#asked.values()) answered.reject(error)
    this.#asked.clear()
  }
}
