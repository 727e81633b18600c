import type { BranchId, SessionId } from '@cairn/protocol'
import type { LeaseRecord } from '../sessions/lease.ts'
import type { LeaseStore } from '../sessions/lease-store.ts'
import {
  bytesOf,
  keyBytes,
  numberOf,
  optionalNumberOf,
  optionalTextOf,
  textBytes,
} from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = [
  'branch',
  'holder',
  'recalled',
  'writers',
  'epoch',
  'version',
  'deadline_ms',
  'last_deadline_ms',
] as const

/** Leases, in SQL: one row a branch, moved by compare-and-set. */
export class LeaseTable implements LeaseStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async get(branch: BranchId): Promise<LeaseRecord | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${columns.join(', ')} FROM leases WHERE branch = ?`,
      [keyBytes(branch)],
    )
    return row && leaseRecord(branch, row)
  }

  put(record: LeaseRecord): Promise<boolean> {
    const values = [
      keyBytes(record.branch),
      record.holder === undefined ? null : keyBytes(record.holder),
      record.recalled ? 1 : 0,
      textBytes(JSON.stringify(record.writers)),
      record.epoch,
      record.version,
      record.deadline?.ms ?? null,
      record.deadline?.lastMs ?? null,
    ]
    if (record.version === 1)
      return tryTransact(
        this.#database,
        insertStatements({ table: 'leases', columns, rows: [values] }),
      )
    const assignments = columns.map((column) => `${column} = ?`).join(', ')
    const statement = {
      sql: `UPDATE leases SET ${assignments} WHERE branch = ? AND version = ?`,
      params: [...values, keyBytes(record.branch), record.version - 1],
      expect: 1,
    }
    // DURABLE: every server sees who holds the lease.
    return tryTransact(this.#database, [statement])
  }
}

function leaseRecord(branch: BranchId, row: Row): LeaseRecord {
  return {
    branch,
    holder: optionalTextOf<SessionId>(row, 'holder'),
    recalled: numberOf(row, 'recalled') === 1,
    writers: JSON.parse(
      new TextDecoder().decode(bytesOf(row, 'writers')),
    ) as LeaseRecord['writers'],
    epoch: numberOf(row, 'epoch'),
    version: numberOf(row, 'version'),
    ...deadlineOf(row),
  }
}

function deadlineOf(row: Row): Pick<LeaseRecord, 'deadline'> {
  const ms = optionalNumberOf(row, 'deadline_ms')
  if (ms === undefined) return {}
  return { deadline: { ms, lastMs: numberOf(row, 'last_deadline_ms') } }
}
