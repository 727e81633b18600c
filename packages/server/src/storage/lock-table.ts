import type { FileLocks } from '@cairn/core'
import type { BranchId, Ino } from '@cairn/protocol'
import type { LockRecord, LockStore } from '../ports/lock-store.ts'
import { bytesOf, keyBytes, numberOf, textBytes } from './columns.ts'
import { type Database, type Row, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = ['branch', 'ino', 'locks', 'stamp'] as const

/** Locks, in SQL: one row a file that has some, moved by compare-and-set. */
export class LockTable implements LockStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async get(branch: BranchId, ino: Ino): Promise<LockRecord | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM file_locks WHERE branch = ? AND ino = ?`,
      [keyBytes(branch), ino],
    )
    return row && lockRecord(branch, row)
  }

  async list(branch: BranchId): Promise<readonly LockRecord[]> {
    const rows = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM file_locks WHERE branch = ?`,
      [keyBytes(branch)],
    )
    return rows.map((row) => lockRecord(branch, row))
  }

  replace(before: LockRecord | undefined, after: LockRecord): Promise<boolean> {
    return tryTransact(this.#database, statementsFor(before, after))
  }
}

function statementsFor(
  before: LockRecord | undefined,
  { branch, ino, locks, stamp }: LockRecord,
): readonly Statement[] {
  const [key, text] = [keyBytes(branch), textBytes(JSON.stringify(locks))]
  if (!before)
    return insertStatements({ table: 'file_locks', columns, rows: [[key, ino, text, stamp]] })
  const where = 'WHERE branch = ? AND ino = ? AND stamp = ?'
  const params = [key, ino, before.stamp]
  if (locks.length === 0) return [{ sql: `DELETE FROM file_locks ${where}`, params, expect: 1 }]
  const sql = `UPDATE file_locks SET locks = ?, stamp = ? ${where}`
  return [{ sql, params: [text, stamp, ...params], expect: 1 }]
}

function lockRecord(branch: BranchId, row: Row): LockRecord {
  return {
    branch,
    ino: numberOf(row, 'ino') as Ino,
    locks: JSON.parse(new TextDecoder().decode(bytesOf(row, 'locks'))) as FileLocks,
    stamp: numberOf(row, 'stamp'),
  }
}
