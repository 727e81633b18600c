import type { BranchRecord, Checkpoint, RefStore } from '@cairn/core'
import { type BranchId, CairnError, type CheckpointId } from '@cairn/protocol'
import { keyBytes } from './columns.ts'
import { type Database, tryTransact } from './database.ts'
import {
  branchColumns,
  branchRecord,
  branchValues,
  checkpointColumns,
  checkpointOf,
  checkpointValues,
} from './ref-rows.ts'
import { insertStatements } from './statements.ts'

/** Branches and checkpoints, in SQL. */
export class RefTable implements RefStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async createBranch(record: BranchRecord): Promise<void> {
    const insert = { table: 'branches', columns: branchColumns, rows: [branchValues(record)] }
    // DURABLE: the branch's row is on disk; it may be written to.
    if (await tryTransact(this.#database, insertStatements(insert))) return
    throw new CairnError('branch_exists', {
      what: `create branch ${record.id}`,
      reason: 'it is there',
      subject: record.id,
    })
  }

  async getBranch(id: BranchId): Promise<BranchRecord> {
    const [row] = await this.#database.query(
      `SELECT ${branchColumns.join(', ')} FROM branches WHERE id = ?`,
      [keyBytes(id)],
    )
    if (row) return branchRecord(row)
    throw new CairnError('branch_missing', {
      what: `open branch ${id}`,
      reason: `there is no branch '${id}'`,
      subject: id,
    })
  }

  async updateBranch(record: BranchRecord): Promise<boolean> {
    const assignments = branchColumns.map((column) => `${column} = ?`).join(', ')
    const statement = {
      sql: `UPDATE branches SET ${assignments} WHERE id = ? AND version = ?`,
      params: [...branchValues(record), keyBytes(record.id), record.version - 1],
      expect: 1,
    }
    // DURABLE: the branch's row is on disk; a fold it names need not be replayed again.
    if (await tryTransact(this.#database, [statement])) return true
    await this.getBranch(record.id)
    return false
  }

  async putCheckpoint(checkpoint: Checkpoint): Promise<void> {
    const key = ['branch', 'id']
    const onTaken = this.#database.dialect.onTaken(
      key,
      checkpointColumns.filter((column) => !key.includes(column)),
    )
    const rows = [checkpointValues(checkpoint)]
    await this.#database.transact(
      insertStatements({ table: 'checkpoints', columns: checkpointColumns, rows, onTaken }),
    )
    // DURABLE: the checkpoint's row is on disk; one may go back to it.
  }

  async getCheckpoint(branch: BranchId, id: CheckpointId): Promise<Checkpoint> {
    const [row] = await this.#database.query(
      `SELECT ${checkpointColumns.join(', ')} FROM checkpoints WHERE branch = ? AND id = ?`,
      [keyBytes(branch), keyBytes(id)],
    )
    if (row) return checkpointOf(row)
    throw new CairnError('checkpoint_missing', {
      what: `find checkpoint ${id} of branch ${branch}`,
      reason: `there is no checkpoint '${id}'`,
      subject: id,
    })
  }

  async listCheckpoints(branch: BranchId): Promise<readonly Checkpoint[]> {
    const rows = await this.#database.query(
      `SELECT ${checkpointColumns.join(', ')} FROM checkpoints WHERE branch = ? ORDER BY seq, id`,
      [keyBytes(branch)],
    )
    return rows.map(checkpointOf)
  }
}
