import { bytesOf, keyBytes, numberOf, textOf } from './columns.ts'
import { type Database, type Row, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

export interface StoredSecret {
  readonly workspace: string
  readonly name: string
  readonly id: string
  readonly lastVersion: number
  readonly createdAt: string
}

export interface StoredVersion {
  readonly secret: string
  readonly version: number
  /** The request that made it: the same request is not done again. */
  readonly request: string
  readonly wrappedKey: Uint8Array
  readonly createdAt: string
  readonly createdBy: string
  /** Encrypted, by field. */
  readonly fields: ReadonlyMap<string, Uint8Array>
}

const secretColumns = ['workspace', 'name', 'id', 'last_version', 'created_at'] as const
const versionColumns = [
  'secret',
  'version',
  'request',
  'wrapped_key',
  'created_at',
  'created_by',
] as const
const fieldColumns = ['secret', 'version', 'field', 'sealed'] as const

/** Secrets and their versions, encrypted. Every change takes along what else has to be written with it. */
export class VaultTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async find(workspace: string, name: string): Promise<StoredSecret | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${secretColumns.join(', ')} FROM vault_secrets WHERE workspace = ? AND name = ?`,
      [keyBytes(workspace), keyBytes(name)],
    )
    return row && storedSecret(row)
  }

  /** Up to `limit` in the byte order of their names, after that name. */
  async list(workspace: string, after: string, limit: number): Promise<readonly StoredSecret[]> {
    const rows = await this.#database.query(
      `SELECT ${secretColumns.join(', ')} FROM vault_secrets WHERE workspace = ? AND name > ? ORDER BY name LIMIT ?`,
      [keyBytes(workspace), keyBytes(after), limit],
    )
    return rows.map(storedSecret)
  }

  async findVersion(secret: string, version: number): Promise<StoredVersion | undefined> {
    const [found] = await this.#versions('secret = ? AND version = ?', [keyBytes(secret), version])
    return found
  }

  async findRequest(secret: string, request: string): Promise<StoredVersion | undefined> {
    const key = [keyBytes(secret), keyBytes(request)]
    const [found] = await this.#versions('secret = ? AND request = ?', key)
    return found
  }

  /** Newest first. */
  async listVersions(secret: string): Promise<readonly StoredVersion[]> {
    const versions = await this.#versions('secret = ?', [keyBytes(secret)])
    return versions.toSorted((a, b) => b.version - a.version)
  }

  /** The first version. False when the name is taken. */
  create(
    secret: StoredSecret,
    version: StoredVersion,
    also: readonly Statement[],
  ): Promise<boolean> {
    const { workspace, name, id, lastVersion, createdAt } = secret
    const row = [...[workspace, name, id].map(keyBytes), lastVersion, keyBytes(createdAt)]
    // DURABLE: the secret is on disk, and the note of who made it.
    return tryTransact(this.#database, [
      ...insertStatements({ table: 'vault_secrets', columns: secretColumns, rows: [row] }),
      ...insertVersion(version),
      ...also,
    ])
  }

  /** False when the secret is no longer at the version before this one. */
  addVersion(version: StoredVersion, also: readonly Statement[]): Promise<boolean> {
    const { secret, version: number } = version
    // DURABLE: the version is on disk, and the note of who wrote it.
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE vault_secrets SET last_version = ? WHERE id = ? AND last_version = ?',
        params: [number, keyBytes(secret), number - 1],
        expect: 1,
      },
      ...insertVersion(version),
      ...also,
    ])
  }

  /** With all its versions; false when it has gone already. */
  remove({ id }: StoredSecret, also: readonly Statement[]): Promise<boolean> {
    const params = [keyBytes(id)]
    // DURABLE: neither values nor the keys to them are in any table.
    return tryTransact(this.#database, [
      { sql: 'DELETE FROM vault_secrets WHERE id = ?', params, expect: 1 },
      { sql: 'DELETE FROM vault_versions WHERE secret = ?', params },
      { sql: 'DELETE FROM vault_fields WHERE secret = ?', params },
      ...also,
    ])
  }

  async #versions(
    where: string,
    params: readonly (Uint8Array | number)[],
  ): Promise<readonly StoredVersion[]> {
    const rows = await this.#database.query(
      `SELECT ${versionColumns.join(', ')} FROM vault_versions WHERE ${where}`,
      params,
    )
    return Promise.all(rows.map((row) => this.#withFields(row)))
  }

  async #withFields(row: Row): Promise<StoredVersion> {
    const [secret, version] = [textOf(row, 'secret'), numberOf(row, 'version')]
    const fields = await this.#database.query(
      'SELECT field, sealed FROM vault_fields WHERE secret = ? AND version = ? ORDER BY field',
      [keyBytes(secret), version],
    )
    return {
      secret,
      version,
      request: textOf(row, 'request'),
      wrappedKey: bytesOf(row, 'wrapped_key'),
      createdAt: textOf(row, 'created_at'),
      createdBy: textOf(row, 'created_by'),
      fields: new Map(fields.map((field) => [textOf(field, 'field'), bytesOf(field, 'sealed')])),
    }
  }
}

function insertVersion(stored: StoredVersion): Statement[] {
  const { secret, version, request, wrappedKey, createdAt, createdBy, fields } = stored
  const id = keyBytes(secret)
  const row = [id, version, keyBytes(request), wrappedKey, ...[createdAt, createdBy].map(keyBytes)]
  const fieldRows = [...fields].map(([field, sealed]) => [id, version, keyBytes(field), sealed])
  return [
    ...insertStatements({ table: 'vault_versions', columns: versionColumns, rows: [row] }),
    ...insertStatements({ table: 'vault_fields', columns: fieldColumns, rows: fieldRows }),
  ]
}

function storedSecret(row: Row): StoredSecret {
  return {
    workspace: textOf(row, 'workspace'),
    name: textOf(row, 'name'),
    id: textOf(row, 'id'),
    lastVersion: numberOf(row, 'last_version'),
    createdAt: textOf(row, 'created_at'),
  }
}
