import type { IssuedKey, KeyInfo } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { encodeSegment } from '../client/path.ts'
import { jsonBody } from '../client/request.ts'

export interface RotateKeyOptions extends RequestOptions {
  /** How long the secret from before still works. It ends at once unless given; 30 days at most. */
  readonly graceMs?: number | undefined
}

/** The keys of the owner. Each has a name, which logs, audits and receipts show. */
export class Keys {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /**
   * Adds a key. Its `secret` is in this answer and nowhere else. Rejects with `key_exists` for a name that a key has
   * or had.
   *
   * @example
   * ```ts
   * const { secret } = await cairn.keys.add('alice')
   * ```
   */
  add(name: string, options: RequestOptions = {}): Promise<IssuedKey> {
    const call = { what: `add the key ${name}`, method: 'POST', path: '/keys' } as const
    return this.#connection.json<IssuedKey>({ ...call, ...jsonBody({ name }) }, options)
  }

  /**
   * All keys by name, those that were removed too.
   *
   * @example
   * ```ts
   * for (const { name, state } of await cairn.keys.list()) console.log(name, state)
   * ```
   */
  async list(options: RequestOptions = {}): Promise<readonly KeyInfo[]> {
    const call = { what: 'list keys', method: 'GET', path: '/keys' } as const
    return (await this.#connection.json<{ items: readonly KeyInfo[] }>(call, options)).items
  }

  /**
   * Gives a key another secret. Sessions and downloads under the one before end with it.
   *
   * @example
   * ```ts
   * const { secret } = await cairn.keys.rotate('alice', { graceMs: 3_600_000 })
   * ```
   */
  rotate(name: string, { graceMs, ...options }: RotateKeyOptions = {}): Promise<IssuedKey> {
    const what = `rotate the key ${name}`
    const path = `/keys/${encodeSegment(name, what)}/rotate`
    const call = { what, method: 'POST', path, ...jsonBody({ graceMs }) } as const
    return this.#connection.json<IssuedKey>(call, options)
  }

  /**
   * Removes a key and ends its sessions and downloads within a second. Rejects with `last_key` for the last one.
   *
   * @example
   * ```ts
   * await cairn.keys.remove('alice')
   * ```
   */
  remove(name: string, options: RequestOptions = {}): Promise<KeyInfo> {
    const what = `remove the key ${name}`
    const path = `/keys/${encodeSegment(name, what)}`
    return this.#connection.json<KeyInfo>({ what, method: 'DELETE', path }, options)
  }
}
