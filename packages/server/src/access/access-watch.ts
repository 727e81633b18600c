import { isCairnError } from '@cairn/protocol'
import type { Access } from './access.ts'
import { type OwnerKeys, requireKeyLive } from './owner-keys.ts'
import { requireLive, type TokenKeeper } from './token-keeper.ts'

type End = (why: unknown) => void
/** Throws `access_ended` once it is over. */
type Require = (access: Access) => void

/** Other servers revoke, too, and time passes: so what is open is looked at this often. */
const lookMs = 400

/** Ends what goes on under a token or an owner key when that is over: at once here, soon elsewhere. */
export class AccessWatch {
  readonly #tokens: TokenKeeper
  readonly #keys: OwnerKeys | undefined
  readonly #nowMs: () => number
  readonly #live = new Map<End, Access>()
  readonly #timer: NodeJS.Timeout
  readonly #unsubscribe: readonly (() => void)[]

  constructor(tokens: TokenKeeper, keys?: OwnerKeys, nowMs: () => number = Date.now) {
    this.#tokens = tokens
    this.#keys = keys
    this.#nowMs = nowMs
    const look = (): void => void this.look()
    this.#unsubscribe = [tokens, ...(keys ? [keys] : [])].map((each) => each.subscribe(look))
    this.#timer = setInterval(look, lookMs).unref()
  }

  /** `end` hears why, once. Gives what stops watching. */
  add(access: Access, end: End): () => void {
    this.#live.set(end, access)
    return () => this.#live.delete(end)
  }

  close(): void {
    clearInterval(this.#timer)
    for (const unsubscribe of this.#unsubscribe) unsubscribe()
  }

  /** One question for all tokens and one for all keys. A store that does not answer is asked again. */
  async look(): Promise<void> {
    if (this.#live.size === 0) return
    const rules = await Promise.all([this.#readTokens(), this.#readKeys()])
    for (const [end, access] of this.#live)
      try {
        for (const require of rules) require(access)
      } catch (error) {
        if (!isCairnError(error, 'access_ended')) throw error
        this.#live.delete(end)
        end(error)
      }
  }

  async #readTokens(): Promise<Require> {
    const records = await readAll(
      this.#tokens.store,
      this.#idsOf(({ scope }) => scope?.token),
    )
    return ({ scope }) => {
      const record = scope && records.get(scope.token)
      if (record) requireLive(record, scope.grant, this.#nowMs())
    }
  }

  async #readKeys(): Promise<Require> {
    const values = await readAll(
      this.#keys?.store,
      this.#idsOf(({ key }) => key),
    )
    return ({ key = '' }) => {
      const value = values.get(key)
      if (value) requireKeyLive(value, this.#nowMs())
    }
  }

  #idsOf(pick: (access: Access) => string | undefined): string[] {
    return [...new Set([...this.#live.values()].flatMap((access) => pick(access) ?? []))]
  }
}

interface Records<T> {
  findAll(ids: readonly string[]): Promise<readonly T[]>
}

async function readAll<T extends { readonly id: string }>(
  store: Records<T> | undefined,
  ids: readonly string[],
): Promise<ReadonlyMap<string, T>> {
  const found = ids.length === 0 ? [] : await store?.findAll(ids).catch(() => [])
  return new Map(found?.map((record) => [record.id, record]))
}
