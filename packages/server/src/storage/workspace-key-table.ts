import { bytesOf, keyBytes, textOf } from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

/** A workspace's key as it is stored: of no use without the master key of that id. */
export interface WrappedKey {
  readonly workspace: string
  readonly masterId: string
  readonly wrapped: Uint8Array
}

const columns = ['workspace', 'master_id', 'wrapped'] as const

export class WorkspaceKeyTable {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** False when the workspace has one. */
  create({ workspace, masterId, wrapped }: WrappedKey): Promise<boolean> {
    const row = [keyBytes(workspace), keyBytes(masterId), wrapped]
    // DURABLE: the key is on disk; something may be encrypted with it.
    return tryTransact(
      this.#database,
      insertStatements({ table: 'workspace_keys', columns, rows: [row] }),
    )
  }

  async find(workspace: string): Promise<WrappedKey | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM workspace_keys WHERE workspace = ?`,
      [keyBytes(workspace)],
    )
    return row && wrappedKey(row)
  }

  /** Up to `limit` that another master key wrapped, in order, after that workspace. */
  async listOthers(masterId: string, after: string, limit: number): Promise<readonly WrappedKey[]> {
    const rows = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM workspace_keys WHERE workspace > ? AND master_id <> ? ORDER BY workspace LIMIT ?`,
      [keyBytes(after), keyBytes(masterId), limit],
    )
    return rows.map(wrappedKey)
  }

  /** False when it is no longer wrapped by the one it was. */
  rewrap(before: WrappedKey, after: WrappedKey): Promise<boolean> {
    // DURABLE: the key is on disk under the new master key; the old one is not needed for it.
    return tryTransact(this.#database, [
      {
        sql: 'UPDATE workspace_keys SET master_id = ?, wrapped = ? WHERE workspace = ? AND master_id = ?',
        params: [
          keyBytes(after.masterId),
          after.wrapped,
          keyBytes(before.workspace),
          keyBytes(before.masterId),
        ],
        expect: 1,
      },
    ])
  }
}

function wrappedKey(row: Row): WrappedKey {
  return {
    workspace: textOf(row, 'workspace'),
    masterId: textOf(row, 'master_id'),
    wrapped: bytesOf(row, 'wrapped'),
  }
}
