import type { Usage } from '@cairn/core'
import type { TokenRecord, TokenStore } from '../ports/token-store.ts'

export class MemoryTokenStore implements TokenStore {
  readonly #tokens = new Map<string, TokenRecord>()

  async create(token: TokenRecord): Promise<void> {
    this.#tokens.set(token.id, token)
  }

  async find(id: string): Promise<TokenRecord | undefined> {
    return this.#tokens.get(id)
  }

  async list(
    workspace: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly TokenRecord[]> {
    return this.#sorted(workspace)
      .filter(({ id }) => after === undefined || id > after)
      .slice(0, limit)
  }

  async findByName(workspace: string, wanted: string): Promise<readonly TokenRecord[]> {
    return this.#sorted(workspace).filter(({ name }) => name === wanted)
  }

  async findAll(ids: readonly string[]): Promise<readonly TokenRecord[]> {
    return ids.flatMap((id) => this.#tokens.get(id) ?? [])
  }

  async revoke(id: string, revokedMs: number): Promise<boolean> {
    return this.#change(id, (token) => ({ ...token, revokedMs }))
  }

  async extend(id: string, expiresMs: number): Promise<boolean> {
    return this.#change(id, (token) => ({ ...token, expiresMs }))
  }

  async charge(id: string, { bytes, files }: Usage): Promise<void> {
    const token = this.#tokens.get(id)
    if (!token) return
    const used = { bytes: token.used.bytes + bytes, files: token.used.files + files }
    this.#tokens.set(id, { ...token, used })
  }

  #sorted(wanted: string): TokenRecord[] {
    return [...this.#tokens.values()]
      .filter(({ workspace }) => workspace === wanted)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  #change(id: string, change: (token: TokenRecord) => TokenRecord): boolean {
    const token = this.#tokens.get(id)
    if (!token || token.revokedMs !== undefined) return false
    this.#tokens.set(id, change(token))
    return true
  }
}
