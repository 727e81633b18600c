import type { AccessOperation, IssuedToken, TokenInfo } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { encodeSegment } from '../client/path.ts'
import { jsonBody } from '../client/request.ts'
import { type PageOptions, readPages } from '../files/list.ts'

export interface IssueOptions extends RequestOptions {
  /** How long it lives. */
  readonly ttlMs: number
  /** What may be done where, and below; whatever is named nowhere does not exist for the token. */
  readonly allow: readonly {
    readonly path: string
    readonly operations: readonly AccessOperation[]
  }[]
  /** Paths that do not exist for it, whatever `allow` says. */
  readonly deny?: readonly string[] | undefined
  /** The only layer there is for it: by id, name, tag or the label of a checkpoint. */
  readonly layer?: string | undefined
  /** How much it may add in its whole life. */
  readonly maxBytes?: number | undefined
  readonly maxFiles?: number | undefined
}

export interface RefreshOptions extends RequestOptions {
  /** As long as at first unless given. */
  readonly ttlMs?: number | undefined
}

/** Tokens for parts of a workspace. Only the owner's key manages them. */
export class Tokens {
  readonly #connection: Connection
  readonly #path: string

  /** `base` is `/workspaces/NAME`, encoded. */
  constructor(connection: Connection, base: string) {
    this.#connection = connection
    this.#path = `${base}/tokens`
  }

  /**
   * Makes a token. Its `secret` is in this answer and nowhere else; it stands wherever a key does.
   *
   * @example
   * ```ts
   * const { secret } = await workspace.tokens.issue('agent-17', {
   *   ttlMs: 3_600_000,
   *   allow: [{ path: '/repo/src', operations: ['read', 'list', 'write'] }],
   * })
   * ```
   */
  issue(name: string, options: IssueOptions): Promise<IssuedToken> {
    const { signal, timeoutMs, ...wishes } = options
    const call = { what: `issue the token ${name}`, method: 'POST', path: this.#path } as const
    return this.#connection.json<IssuedToken>(
      { ...call, ...jsonBody({ name, ...wishes }) },
      { signal, timeoutMs },
    )
  }

  /**
   * All tokens, those that are over too, read page by page.
   *
   * @example
   * ```ts
   * for await (const { name, state } of workspace.tokens.list()) console.log(name, state)
   * ```
   */
  async *list(options: PageOptions = {}): AsyncIterable<TokenInfo> {
    const call = { what: 'list tokens', method: 'GET', path: this.#path } as const
    yield* readPages<TokenInfo>(this.#connection, call, options)
  }

  /**
   * What a token allows, by name or id.
   *
   * @example
   * ```ts
   * const { allow, expiresAt } = await workspace.tokens.show('agent-17')
   * ```
   */
  show(reference: string, options: RequestOptions = {}): Promise<TokenInfo> {
    const what = `show the token ${reference}`
    const path = this.#pathOf(reference, what)
    return this.#connection.json<TokenInfo>({ what, method: 'GET', path }, options)
  }

  /**
   * Ends a token, or all that have the name: mounts under it are refused within a second. Gives their ids.
   *
   * @example
   * ```ts
   * await workspace.tokens.revoke('agent-17')
   * ```
   */
  async revoke(reference: string, options: RequestOptions = {}): Promise<readonly string[]> {
    const what = `revoke the token ${reference}`
    const call = { what, method: 'DELETE', path: this.#pathOf(reference, what) } as const
    return (await this.#connection.json<{ revoked: readonly string[] }>(call, options)).revoked
  }

  /**
   * Begins the time of a token anew. Its secret stays, and so do the mounts under it.
   *
   * @example
   * ```ts
   * await workspace.tokens.refresh('agent-17', { ttlMs: 3_600_000 })
   * ```
   */
  refresh(reference: string, { ttlMs, ...options }: RefreshOptions = {}): Promise<TokenInfo> {
    const what = `refresh the token ${reference}`
    const path = `${this.#pathOf(reference, what)}/refresh`
    return this.#connection.json<TokenInfo>(
      { what, method: 'POST', path, ...jsonBody({ ttlMs }) },
      options,
    )
  }

  #pathOf(reference: string, what: string): string {
    return `${this.#path}/${encodeSegment(reference, what)}`
  }
}
