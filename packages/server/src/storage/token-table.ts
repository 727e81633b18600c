import type { Charge, Usage } from '@cairn/core'
import type { TokenRecord, TokenStore } from '../ports/token-store.ts'
import { bytesOf, keyBytes, numberOf, textBytes, textOf } from './columns.ts'
import { type Database, type Row, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = [
  'id',
  'owner',
  'workspace',
  'name',
  'caveat',
  'signature_hash',
  'issued_by',
  'created_ms',
  'expires_ms',
  'revoked_ms',
  'used_bytes',
  'used_files',
] as const
const idsAtOnce = 100

/** Tokens of all workspaces. */
export class TokenTable implements TokenStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async create(token: TokenRecord): Promise<void> {
    const row = [
      ...[token.id, token.owner, token.workspace, token.name].map(keyBytes),
      textBytes(token.caveat),
      token.signatureHash,
      keyBytes(token.issuedBy),
      token.createdMs,
      token.expiresMs,
      token.revokedMs ?? null,
      token.used.bytes,
      token.used.files,
    ]
    await this.#database.transact(insertStatements({ table: 'tokens', columns, rows: [row] }))
    // DURABLE: the token is on disk; it may be handed out.
  }

  async find(id: string): Promise<TokenRecord | undefined> {
    const [token] = await this.#select('id = ?', [keyBytes(id)])
    return token
  }

  list(
    workspace: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly TokenRecord[]> {
    const params = [keyBytes(workspace), keyBytes(after ?? ''), limit]
    return this.#select('workspace = ? AND id > ? ORDER BY id LIMIT ?', params)
  }

  findByName(workspace: string, name: string): Promise<readonly TokenRecord[]> {
    return this.#select('workspace = ? AND name = ? ORDER BY id', [
      keyBytes(workspace),
      keyBytes(name),
    ])
  }

  async findAll(ids: readonly string[]): Promise<readonly TokenRecord[]> {
    const found: TokenRecord[] = []
    for (let at = 0; at < ids.length; at += idsAtOnce) {
      const some = ids.slice(at, at + idsAtOnce)
      const places = some.map(() => '?').join(', ')
      found.push(...(await this.#select(`id IN (${places})`, some.map(keyBytes))))
    }
    return found
  }

  revoke(id: string, revokedMs: number): Promise<boolean> {
    const statement = {
      sql: 'UPDATE tokens SET revoked_ms = ? WHERE id = ? AND revoked_ms IS NULL',
      params: [revokedMs, keyBytes(id)],
      expect: 1,
    }
    // DURABLE: every later request sees that it is revoked.
    return tryTransact(this.#database, [statement])
  }

  extend(id: string, expiresMs: number): Promise<boolean> {
    const statement = {
      sql: 'UPDATE tokens SET expires_ms = ? WHERE id = ? AND revoked_ms IS NULL',
      params: [expiresMs, keyBytes(id)],
      expect: 1,
    }
    return tryTransact(this.#database, [statement])
  }

  async charge(account: string, used: Usage): Promise<void> {
    await this.#database.transact([chargeToken({ account, ...used })])
  }

  async #select(
    where: string,
    params: readonly (Uint8Array | number)[],
  ): Promise<readonly TokenRecord[]> {
    const sql = `SELECT ${columns.join(', ')} FROM tokens WHERE ${where}`
    return (await this.#database.query(sql, params)).map(recordOf)
  }
}

function recordOf(row: Row): TokenRecord {
  return {
    id: textOf(row, 'id'),
    owner: textOf(row, 'owner'),
    workspace: textOf(row, 'workspace'),
    name: textOf(row, 'name'),
    caveat: textOf(row, 'caveat'),
    signatureHash: bytesOf(row, 'signature_hash'),
    issuedBy: textOf(row, 'issued_by'),
    createdMs: numberOf(row, 'created_ms'),
    expiresMs: numberOf(row, 'expires_ms'),
    revokedMs: row['revoked_ms'] === null ? undefined : numberOf(row, 'revoked_ms'),
    used: { bytes: numberOf(row, 'used_bytes'), files: numberOf(row, 'used_files') },
  }
}

/** In a transaction of its own, or in that of the batch it is for. */
export function chargeToken({ account, bytes, files }: Charge): Statement {
  const sql =
    'UPDATE tokens SET used_bytes = used_bytes + ?, used_files = used_files + ? WHERE id = ?'
  return { sql, params: [bytes, files, keyBytes(account)] }
}
