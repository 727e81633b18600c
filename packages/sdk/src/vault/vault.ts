import type {
  IssuedVaultGrant,
  Page,
  SecretInfo,
  SecretReceipt,
  SecretValues,
  SecretVersion,
  VaultAuditEntry,
  VaultGrant,
  VaultOutcome,
  VaultPermission,
  VaultScope,
  VaultValue,
} from '@cairn/protocol'
import { collect } from '../client/answer.ts'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { encodeSegment } from '../client/path.ts'
import { jsonBody } from '../client/request.ts'
import { type PageOptions, readPages } from '../files/list.ts'
import type { ChangeOptions } from '../layers/options.ts'

export interface ReadSecretOptions extends RequestOptions {
  /** The newest unless given. */
  readonly version?: number | undefined
}

export interface WriteSecretOptions extends ChangeOptions {
  /** The version it must have now; 0 for none yet. Otherwise `precondition_failed`. */
  readonly ifVersion?: number | undefined
}

export interface GrantOptions extends ChangeOptions {
  /** Whom it is for; the audit names it. */
  readonly agent: string
  /** `read` unless given. */
  readonly permissions?: readonly VaultPermission[] | undefined
  readonly ttlMs: number
}

export interface AuditOptions extends PageOptions {
  readonly secret?: string | undefined
  readonly agent?: string | undefined
  readonly actor?: string | undefined
  readonly outcome?: VaultOutcome | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
}

/** What a field is set to. */
export type FieldValue = string | Uint8Array

/** A secret that has been read: its fields in the order of their names. */
export interface Secret {
  readonly name: string
  readonly version: number
  readonly fields: ReadonlyMap<string, Uint8Array>
}

/**
 * Secrets of a workspace, kept encrypted. With the token of a grant in place of the key, those that it allows.
 *
 * @example
 * ```ts
 * const { token } = await workspace.vault.grant([{ secret: 'prod-db' }], { agent: 'alice', ttlMs: 3_600_000 })
 * ```
 */
export class Vault {
  readonly #connection: Connection
  readonly #base: string

  /** `base` is `/workspaces/NAME`, encoded. */
  constructor(connection: Connection, base: string) {
    this.#connection = connection
    this.#base = `${base}/vault`
  }

  /**
   * All fields of a secret that may be read.
   *
   * @example
   * ```ts
   * const { fields } = await workspace.vault.read('prod-db')
   * ```
   */
  async read(name: string, { version, ...options }: ReadSecretOptions = {}): Promise<Secret> {
    const what = `read the secret ${name}`
    const call = { what, method: 'GET', path: this.#path(name, what), query: { version } } as const
    const values = await this.#connection.json<SecretValues>(call, options)
    const fields = Object.entries(values.fields).map(
      ([field, value]) => [field, bytesOf(value)] as const,
    )
    return { name: values.name, version: values.version, fields: new Map(fields) }
  }

  /**
   * The bytes of one field.
   *
   * @example
   * ```ts
   * const url = new TextDecoder().decode(await workspace.vault.readField('prod-db', 'DB_URL'))
   * ```
   */
  async readField(
    name: string,
    field: string,
    { version, ...options }: ReadSecretOptions = {},
  ): Promise<Uint8Array> {
    const what = `read the secret ${name}/${field}`
    const path = `${this.#path(name, what)}/fields/${encodeSegment(field, what)}`
    const call = { what, method: 'GET', path, query: { version } } as const
    return collect(await this.#connection.open(call, options))
  }

  /**
   * Sets fields, takes away those that are null, and keeps the others: a new version. Makes the secret if it is not there.
   *
   * @example
   * ```ts
   * await workspace.vault.set('prod-db', { DB_URL: 'postgres://db/prod', OLD_URL: null })
   * ```
   */
  set(
    name: string,
    fields: Readonly<Record<string, FieldValue | null>>,
    options: WriteSecretOptions = {},
  ): Promise<SecretReceipt> {
    return this.#write('PATCH', name, fields, options)
  }

  /**
   * Replaces the whole secret: a new version with exactly these fields.
   *
   * @example
   * ```ts
   * await workspace.vault.put('prod-db', { DB_URL: 'postgres://db/prod' }, { ifVersion: 0 })
   * ```
   */
  put(
    name: string,
    fields: Readonly<Record<string, FieldValue>>,
    options: WriteSecretOptions = {},
  ): Promise<SecretReceipt> {
    return this.#write('PUT', name, fields, options)
  }

  /**
   * Secrets by name, without their values, read page by page.
   *
   * @example
   * ```ts
   * for await (const { name, fields } of workspace.vault.list()) console.log(name, fields)
   * ```
   */
  async *list(options: PageOptions = {}): AsyncIterable<SecretInfo> {
    const call = { what: 'list secrets', method: 'GET', path: `${this.#base}/secrets` } as const
    yield* readPages<SecretInfo>(this.#connection, call, options)
  }

  /**
   * The versions of a secret, newest first.
   *
   * @example
   * ```ts
   * const [newest] = await workspace.vault.history('prod-db')
   * ```
   */
  async history(name: string, options: RequestOptions = {}): Promise<readonly SecretVersion[]> {
    const what = `look up the versions of the secret ${name}`
    const call = { what, method: 'GET', path: `${this.#path(name, what)}/history` } as const
    return (await this.#connection.json<Page<SecretVersion>>(call, options)).items
  }

  /**
   * Takes a secret away, with all its versions.
   *
   * @example
   * ```ts
   * await workspace.vault.delete('prod-db')
   * ```
   */
  delete(name: string, options: RequestOptions = {}): Promise<void> {
    const what = `remove the secret ${name}`
    const call = { what, method: 'DELETE', path: this.#path(name, what) } as const
    return this.#connection.nothing(call, options)
  }

  /**
   * Lets an agent read or write secrets, or single fields, for a while. The token is told this once.
   *
   * @example
   * ```ts
   * const scopes = [{ secret: 'prod-db', field: 'DB_URL' }]
   * const { token } = await workspace.vault.grant(scopes, { agent: 'alice', ttlMs: 3_600_000 })
   * ```
   */
  grant(
    scopes: readonly VaultScope[],
    { agent, permissions = ['read'], ttlMs, idempotencyKey, ...options }: GrantOptions,
  ): Promise<IssuedVaultGrant> {
    const { body, headers } = jsonBody({ agent, scopes, permissions, ttlMs })
    const path = `${this.#base}/grants`
    const call = { what: `make a grant for ${agent}`, method: 'POST', path, body } as const
    return this.#connection.json<IssuedVaultGrant>(
      { ...call, headers: { ...headers, 'idempotency-key': idempotencyKey } },
      options,
    )
  }

  /**
   * All grants, those that are over too.
   *
   * @example
   * ```ts
   * for await (const { id, agent, expiresAt } of workspace.vault.grants()) console.log(id, agent, expiresAt)
   * ```
   */
  async *grants(options: PageOptions = {}): AsyncIterable<VaultGrant> {
    const call = { what: 'list grants', method: 'GET', path: `${this.#base}/grants` } as const
    yield* readPages<VaultGrant>(this.#connection, call, options)
  }

  /**
   * Ends a grant at once.
   *
   * @example
   * ```ts
   * await workspace.vault.revoke(id)
   * ```
   */
  revoke(id: string, options: RequestOptions = {}): Promise<VaultGrant> {
    const what = `revoke the grant ${id}`
    const path = `${this.#base}/grants/${encodeSegment(id, what)}`
    return this.#connection.json<VaultGrant>({ what, method: 'DELETE', path }, options)
  }

  /**
   * Who read, wrote or was refused what, newest first.
   *
   * @example
   * ```ts
   * for await (const { time, agent, secret } of workspace.vault.audit({ outcome: 'denied' })) show(time, agent, secret)
   * ```
   */
  async *audit(audit: AuditOptions = {}): AsyncIterable<VaultAuditEntry> {
    const { secret, agent, actor, outcome, since, until, ...options } = audit
    const time = { since: since?.toISOString(), until: until?.toISOString() }
    const query = { secret, agent, actor, outcome, ...time }
    const path = `${this.#base}/audit`
    const call = { what: 'read the audit of the vault', method: 'GET', path, query } as const
    yield* readPages<VaultAuditEntry>(this.#connection, call, options)
  }

  #write(
    method: 'PUT' | 'PATCH',
    name: string,
    given: Readonly<Record<string, FieldValue | null>>,
    { ifVersion, idempotencyKey, ...options }: WriteSecretOptions,
  ): Promise<SecretReceipt> {
    const what = `write the secret ${name}`
    const fields = Object.entries(given).map(([field, value]) => [field, spell(value)])
    const { body, headers } = jsonBody({ fields: Object.fromEntries(fields), ifVersion })
    return this.#connection.json<SecretReceipt>(
      {
        what,
        method,
        path: this.#path(name, what),
        body,
        headers: { ...headers, 'idempotency-key': idempotencyKey },
      },
      options,
    )
  }

  #path(name: string, what: string): string {
    return `${this.#base}/secrets/${encodeSegment(name, what)}`
  }
}

function spell(value: FieldValue | null): VaultValue | null {
  if (value === null) return null
  if (typeof value === 'string') return { text: value }
  return { base64: btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join('')) }
}

function bytesOf(value: VaultValue): Uint8Array {
  if ('text' in value) return new TextEncoder().encode(value.text)
  return Uint8Array.from(atob(value.base64), (character) => character.charCodeAt(0))
}
