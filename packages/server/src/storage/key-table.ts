import type { KeyChange, KeyList, KeyStore, KeyValue } from '../ports/key-store.ts'
import { keyBytes, numberOf, optionalTextOf, textBytes, textOf } from './columns.ts'
import { type Database, type Row, type SqlValue, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = ['id', 'owner', 'secret_hash', 'kind', 'label', 'created_at', 'revoked_at'] as const
const idsAtOnce = 100

/**
 * Owner keys. Secrets are long and random, so none is found by trying; and looking up a hash tells by its timing
 * nothing about the secret.
 */
export class KeyTable implements KeyStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  create(value: KeyValue, secretHash: Uint8Array): Promise<boolean> {
    // DURABLE: the key is on disk; it may be handed out.
    return tryTransact(this.#database, insertValue(value, secretHash))
  }

  async findBySecret(secretHash: Uint8Array): Promise<KeyValue | undefined> {
    const [value] = await this.#select('secret_hash = ?', [secretHash])
    return value
  }

  async findAll(ids: readonly string[]): Promise<readonly KeyValue[]> {
    const found: KeyValue[] = []
    for (let at = 0; at < ids.length; at += idsAtOnce) {
      const some = ids.slice(at, at + idsAtOnce)
      const places = some.map(() => '?').join(', ')
      found.push(...(await this.#select(`id IN (${places})`, some.map(keyBytes))))
    }
    return found
  }

  async read(owner: string): Promise<KeyList> {
    // The version first: what changes in between makes it too old for `change`.
    const [row] = await this.#database.query('SELECT version FROM key_lists WHERE owner = ?', [
      keyBytes(owner),
    ])
    const values = await this.#select('owner = ? ORDER BY created_at, id', [keyBytes(owner)])
    return { version: row ? numberOf(row, 'version') : 0, values }
  }

  change(owner: string, version: number, { end, create }: KeyChange): Promise<boolean> {
    // DURABLE: a new secret may be handed out, and every server refuses those that have ended.
    return tryTransact(this.#database, [
      ...raiseVersion(owner, version),
      ...(end ? [endValues(owner, end.name, end.at)] : []),
      ...(create ? insertValue(create.value, create.secretHash) : []),
    ])
  }

  async #select(where: string, params: readonly SqlValue[]): Promise<readonly KeyValue[]> {
    const sql = `SELECT id, owner, label, created_at, revoked_at FROM access_keys WHERE ${where}`
    return (await this.#database.query(sql, params)).map(valueOf)
  }
}

/** The row is made by the first change: of two, one meets a key that is taken. */
function raiseVersion(owner: string, version: number): Statement[] {
  if (version === 0) {
    const rows = [[keyBytes(owner), 1]]
    return insertStatements({ table: 'key_lists', columns: ['owner', 'version'], rows })
  }
  const sql = 'UPDATE key_lists SET version = ? WHERE owner = ? AND version = ?'
  return [{ sql, params: [version + 1, keyBytes(owner), version], expect: 1 }]
}

function endValues(owner: string, name: string, at: string): Statement {
  const sql =
    'UPDATE access_keys SET revoked_at = ? WHERE owner = ? AND label = ? AND (revoked_at IS NULL OR revoked_at > ?)'
  return { sql, params: [keyBytes(at), keyBytes(owner), textBytes(name), keyBytes(at)] }
}

function insertValue(value: KeyValue, secretHash: Uint8Array): Statement[] {
  const { id, owner, name, createdAt, endsAt } = value
  const row = [
    keyBytes(id),
    keyBytes(owner),
    secretHash,
    keyBytes('owner'),
    textBytes(name),
    keyBytes(createdAt),
    endsAt === undefined ? null : keyBytes(endsAt),
  ]
  return insertStatements({ table: 'access_keys', columns, rows: [row] })
}

function valueOf(row: Row): KeyValue {
  return {
    id: textOf(row, 'id'),
    owner: textOf(row, 'owner'),
    name: textOf(row, 'label'),
    createdAt: textOf(row, 'created_at'),
    endsAt: optionalTextOf(row, 'revoked_at'),
  }
}
