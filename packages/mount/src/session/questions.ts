import type { SessionRequest } from '@cairn/protocol'
import type { Pace } from './pace.ts'
import { bytesOf } from './pieces.ts'
import type { Wire } from './wire.ts'

type Ask = Extract<SessionRequest, { readonly id: number }>

/** A question without its number. */
export type SessionQuestion = Ask extends infer Each
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
  readonly #wire: () => Wire | undefined
  #lastId = 0

  /** `wire` is undefined until the server has welcomed the session over it. */
  constructor(pace: Pace, wire: () => Wire | undefined) {
    this.#pace = pace
    this.#wire = wire
  }

  /** With a signal that is aborted, the server is told that it need not wait any longer; it answers all the same. */
  ask(question: SessionQuestion, signal?: AbortSignal): Promise<Uint8Array> {
    const id = ++this.#lastId
    const ask = { ...question, id } as Ask
    const asked = { ask, isCancelled: false, answered: Promise.withResolvers<Uint8Array>() }
    this.#asked.set(id, asked)
    this.#unsent.add(id)
    this.sendAll()
    signal?.addEventListener('abort', () => this.#cancel(asked), { once: true })
    if (signal?.aborted) this.#cancel(asked)
    return asked.answered.promise
  }

  /** Undefined when it has been answered before. */
  take(id: number): PromiseWithResolvers<Uint8Array> | undefined {
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    if (asked && !this.#unsent.delete(id)) this.#pace.answered(bytesOf(asked.ask))
    return asked?.answered
  }

  /** A server that has answered, or has not been asked yet, need not be told. */
  #cancel(asked: Asked): void {
    const { id } = asked.ask
    asked.isCancelled = true
    if (this.#asked.has(id) && !this.#unsent.has(id))
      this.#wire()?.send({ type: 'cancel', question: id })
  }

  /** Sends what may be sent now. Bytes keep to the pace; everything else is small, and goes past them. */
  sendAll(): void {
    const wire = this.#wire()
    if (!wire) return
    for (const id of this.#unsent) {
      const { ask, isCancelled } = this.#asked.get(id)!
      const bytes = bytesOf(ask)
      if (bytes > 0 && !this.#pace.send(bytes)) continue
      this.#unsent.delete(id)
      wire.send(ask)
      if (isCancelled) wire.send({ type: 'cancel', question: id })
    }
  }

  /** The next connection is asked all of it, in the same order: what came of a message in pieces is still at the server. */
  noteBroken(): void {
    this.#unsent.clear()
    for (const id of this.#asked.keys()) this.#unsent.add(id)
  }

  failAll(error: unknown): void {
    for (const { answered } of this.#asked.values()) answered.reject(error)
    this.#asked.clear()
    this.#unsent.clear()
  }
}
