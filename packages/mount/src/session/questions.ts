import type { SessionRequest } from '@cairn/protocol'
import type { Pace } from './pace.ts'

type Ask = Extract<SessionRequest, { readonly id: number }>

/** A question without its number. */
export type Question = Ask extends infer Each
  ? Each extends Ask
    ? Omit<Each, 'id'>
    : never
  : never

interface Asked {
  readonly ask: Ask
  /** No caller waits for it any more; still, its answer tells what became of it. */
  isCancelled: boolean
  readonly answered: PromiseWithResolvers<Uint8Array>
}

/** What was asked and not answered. It is asked again over each new connection. */
export class Questions {
  readonly #asked = new Map<number, Asked>()
  /** Those of them that have not been sent over this connection. */
  readonly #unsent = new Set<number>()
  readonly #pace: Pace
  #lastId = 0

  constructor(pace: Pace) {
    this.#pace = pace
  }

  add(question: Question): Asked {
    const id = ++this.#lastId
    const ask = { ...question, id } as Ask
    const asked = { ask, isCancelled: false, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    this.#unsent.add(id)
    return asked
  }

  /** Undefined when it has been answered before. */
  take(id: number): PromiseWithResolvers<Uint8Array> | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (asked && !this.#unsent.delete(id)) this.#pace.answered(bytesOf(asked.ask))
    return asked?.answered
  }

  /** Undefined when the server need not be told: it has answered, or has not been asked yet. */
  cancel(id: number): SessionRequest | undefined {
    const asked = this.#asked.get(id)
    if (!asked) return undefined
    asked.isCancelled = true
    return this.#unsent.has(id) ? undefined : { type: 'cancel', question: id }
  }

  /** What may be sent now. Bytes keep to the pace; everything else is small, and goes past them. */
  *toSend(): Generator<SessionRequest> {
    for (const id of this.#unsent) {
      const { ask, isCancelled } = this.#asked.get(id)!
      if (ask.type === 'blob' && !this.#pace.send(bytesOf(ask))) continue
      this.#unsent.delete(id)
      yield ask
      if (isCancelled) yield { type: 'cancel', question: id }
    }
  }

  /** The next connection is asked all of it. */
  noteBroken(): void {
    for (const id of this.#asked.keys()) this.#unsent.add(id)
  }

  failAll(error: unknown): void {
    for (const { answered } of this.#asked.values()) answered.reject(error)
    this.#asked.clear()
    this.#unsent.clear()
  }
}

function bytesOf(ask: Ask): number {
  return ask.type === 'blob' ? ask.bytes.length : 0
}
