import { keyBytes, optionalTextOf, textBytes, textOf } from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

export interface StoredKey {
  readonly id: string
  readonly owner: string
  readonly kind: string
  readonly label: string
  /** ISO 8601. */
  readonly createdAt: string
  readonly revokedAt: string | undefined
}

const columns = ['id', 'owner', 'secret_hash', 'kind', 'label', 'created_at'] as const
const selected = 'id, owner, kind, label, created_at, revoked_at'

/**
 * Who may come in. Secrets are never stored, only their SHA-256: they are long and random, so nobody finds one by
 * trying; and looking up a hash tells by its timing nothing about the secret.
 */
export class KeyTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** False when the id or the secret is taken. */
  create(key: Omit<StoredKey, 'revokedAt'>, secretHash: Uint8Array): Promise<boolean> {
    const { id, owner, kind, label, createdAt } = key
    const row = [
      keyBytes(id),
      keyBytes(owner),
      secretHash,
      keyBytes(kind),
      textBytes(label),
      keyBytes(createdAt),
    ]
    // DURABLE: the key is on disk; it may be handed out.
    return tryTransact(
      this.#database,
      insertStatements({ table: 'access_keys', columns, rows: [row] }),
    )
  }

  /** Undefined also for a revoked one, so that nobody forgets to ask. */
  async findBySecret(secretHash: Uint8Array): Promise<StoredKey | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${selected} FROM access_keys WHERE secret_hash = ? AND revoked_at IS NULL`,
      [secretHash],
    )
    return row && storedKey(row)
  }

  /** Up to `limit` of an owner's, revoked ones too, in the byte order of their ids, after that id. */
  async list(
    owner: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly StoredKey[]> {
    const rows = await this.#database.query(
      `SELECT ${selected} FROM access_keys WHERE owner = ? AND id > ? ORDER BY id LIMIT ?`,
      [keyBytes(owner), keyBytes(after ?? ''), limit],
    )
    return rows.map(storedKey)
  }

  /** False when there is none, or when it is revoked already: the first time stands. */
  revoke(owner: string, id: string, revokedAt: string): Promise<boolean> {
    const statement = {
      sql: 'UPDATE access_keys SET revoked_at = ? WHERE owner = ? AND id = ? AND revoked_at IS NULL',
      params: [keyBytes(revokedAt), keyBytes(owner), keyBytes(id)],
      expect: 1,
    }
    return tryTransact(this.#database, [statement])
  }
}

function storedKey(row: Row): StoredKey {
  return {
    id: textOf(row, 'id'),
    owner: textOf(row, 'owner'),
    kind: textOf(row, 'kind'),
    label: textOf(row, 'label'),
    createdAt: textOf(row, 'created_at'),
    revokedAt: optionalTextOf(row, 'revoked_at'),
  }
}
