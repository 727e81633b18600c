import type { VaultGrant, VaultPermission, VaultScope } from '@cairn/protocol'
import { keyBytes, optionalTextOf, textBytes, textOf } from './columns.ts'
import { type Database, type Row, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

export interface StoredGrant extends VaultGrant {
  readonly workspace: string
  readonly owner: string
}

const columns = [
  'id',
  'workspace',
  'owner',
  'agent',
  'scopes',
  'permissions',
  'secret_hash',
  'created_at',
  'created_by',
  'expires_at',
] as const
const selected =
  'id, workspace, owner, agent, scopes, permissions, created_at, created_by, expires_at, revoked_at'

/** Who may read or write which secrets, and until when. Of tokens only the SHA-256 is stored. */
export class VaultGrantTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** False when there is one of that id. */
  create(grant: StoredGrant, secretHash: Uint8Array, also: readonly Statement[]): Promise<boolean> {
    const row = [
      ...[grant.id, grant.workspace, grant.owner, grant.agent].map(keyBytes),
      textBytes(JSON.stringify(grant.scopes)),
      textBytes(JSON.stringify(grant.permissions)),
      secretHash,
      ...[grant.createdAt, grant.createdBy, grant.expiresAt].map(keyBytes),
    ]
    // DURABLE: the grant is on disk; its token may be handed out.
    return tryTransact(this.#database, [
      ...insertStatements({ table: 'vault_grants', columns, rows: [row] }),
      ...also,
    ])
  }

  /** Also one that is over: the caller must check. */
  findBySecret(secretHash: Uint8Array): Promise<StoredGrant | undefined> {
    return this.#find('secret_hash = ?', secretHash)
  }

  find(id: string): Promise<StoredGrant | undefined> {
    return this.#find('id = ?', keyBytes(id))
  }

  /** Up to `limit` of a workspace's, also those that are over, in the byte order of their ids, after that id. */
  async list(workspace: string, after: string, limit: number): Promise<readonly StoredGrant[]> {
    const rows = await this.#database.query(
      `SELECT ${selected} FROM vault_grants WHERE workspace = ? AND id > ? ORDER BY id LIMIT ?`,
      [keyBytes(workspace), keyBytes(after), limit],
    )
    return rows.map(storedGrant)
  }

  /** False when there is none, or when it is revoked already: the first time stands. */
  revoke(
    workspace: string,
    id: string,
    revokedAt: string,
    also: readonly Statement[],
  ): Promise<boolean> {
    // DURABLE: the grant opens nothing any more, on any server.
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE vault_grants SET revoked_at = ? WHERE workspace = ? AND id = ? AND revoked_at IS NULL',
        params: [revokedAt, workspace, id].map(keyBytes),
        expect: 1,
      },
      ...also,
    ])
  }

  async #find(where: string, value: Uint8Array): Promise<StoredGrant | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${selected} FROM vault_grants WHERE ${where}`,
      [value],
    )
    return row && storedGrant(row)
  }
}

function storedGrant(row: Row): StoredGrant {
  const revokedAt = optionalTextOf(row, 'revoked_at')
  return {
    id: textOf(row, 'id'),
    workspace: textOf(row, 'workspace'),
    owner: textOf(row, 'owner'),
    agent: textOf(row, 'agent'),
    scopes: JSON.parse(textOf(row, 'scopes')) as VaultScope[],
    permissions: JSON.parse(textOf(row, 'permissions')) as VaultPermission[],
    createdAt: textOf(row, 'created_at'),
    createdBy: textOf(row, 'created_by'),
    expiresAt: textOf(row, 'expires_at'),
    ...(revokedAt === undefined ? {} : { revokedAt }),
  }
}
