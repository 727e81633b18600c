import { isCairnError } from '@cairn/protocol'
import type { Scope } from './access.ts'
import { requireLive, type Tokens } from './tokens.ts'

type End = (why: unknown) => void

/** Other servers revoke, too, and time passes: so live ones are looked at this often. */
const lookMs = 400

/** Ends what goes on under a token when it is revoked or its time is over: at once here, soon elsewhere. */
export class TokenWatch {
  readonly #tokens: Tokens
  readonly #nowMs: () => number
  readonly #live = new Map<End, Scope>()
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: () => void

  constructor(tokens: Tokens, nowMs: () => number = Date.now) {
    this.#tokens = tokens
    this.#nowMs = nowMs
    this.#unsubscribe = tokens.subscribe(() => void this.look())
    this.#timer = setInterval(() => void this.look(), lookMs).unref()
  }

  /** `end` hears why, once. Gives what stops watching. */
  add(scope: Scope, end: End): () => void {
    this.#live.set(end, scope)
    return () => this.#live.delete(end)
  }

  close(): void {
    clearInterval(this.#timer)
    this.#unsubscribe()
  }

  /** One question for all of them. A store that does not answer is asked again. */
  async look(): Promise<void> {
    if (this.#live.size === 0) return
    const ids = [...new Set([...this.#live.values()].map(({ token }) => token))]
    const found = await this.#tokens.store.findAll(ids).catch(() => undefined)
    const records = new Map(found?.map((record) => [record.id, record]))
    for (const [end, { token, grant }] of this.#live) {
      const record = records.get(token)
      if (!record) continue
      try {
        requireLive(record, grant, this.#nowMs())
      } catch (error) {
        if (!isCairnError(error, 'access_ended')) throw error
        this.#live.delete(end)
        end(error)
      }
    }
  }
}
