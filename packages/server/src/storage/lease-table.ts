import type { BranchId, SessionId } from '@cairn/protocol'
import type { HolderNote, LeaseRecord, LeaseStore } from '../ports/lease-store.ts'
import {
  bytesOf,
  keyBytes,
  numberOf,
  optionalNumberOf,
  optionalTextOf,
  textBytes,
  textOf,
} from './columns.ts'
import { type Database, type Row, tryTransact } from './database.ts'
import { insertStatements, marksFor } from './statements.ts'

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

const valuesAtOnce = 500
const noteColumns = ['holder', 'kind', 'value', 'noted_ms'] as const

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
      textBytes(JSON.stringify(storedWriters(record))),
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

  async addNotes(holder: string, notes: readonly HolderNote[], nowMs: number): Promise<void> {
    const rows = notes.map(({ kind, value }) => [
      keyBytes(holder),
      keyBytes(kind),
      keyBytes(value),
      nowMs,
    ])
    const onTaken = this.#database.dialect.onTaken(['holder', 'kind', 'value'], [])
    const insert = { table: 'holder_notes', columns: noteColumns, rows, onTaken }
    // DURABLE: whichever server the holder comes back to knows it.
    await this.#database.transact(insertStatements(insert))
  }

  async listNotes(holder: string): Promise<readonly HolderNote[]> {
    const rows = await this.#database.query(
      'SELECT kind, value FROM holder_notes WHERE holder = ? OR (holder >= ? AND holder < ?)',
      // Nothing stands between a tilde and the sign behind it.
      [keyBytes(holder), keyBytes(`${holder}~`), keyBytes(`${holder}\u007f`)],
    )
    return rows.map((row) => ({ kind: textOf(row, 'kind'), value: textOf(row, 'value') }))
  }

  async findNotes(
    holders: readonly string[],
    kind: HolderNote['kind'],
    values: readonly string[],
  ): Promise<readonly string[]> {
    const found: string[] = []
    const names = holders.map(keyBytes)
    for (let at = 0; at < values.length; at += valuesAtOnce) {
      const some = values.slice(at, at + valuesAtOnce).map(keyBytes)
      const rows = await this.#database.query(
        `SELECT value FROM holder_notes WHERE kind = ? AND holder IN (${marksFor(names)}) AND value IN (${marksFor(some)})`,
        [keyBytes(kind), ...names, ...some],
      )
      found.push(...rows.map((row) => textOf(row, 'value')))
    }
    return found
  }

  async listHolders(after: string, limit: number): Promise<readonly string[]> {
    const sql = 'SELECT DISTINCT holder FROM holder_notes WHERE holder > ? ORDER BY holder LIMIT ?'
    const rows = await this.#database.query(sql, [keyBytes(after), limit])
    return rows.map((row) => textOf(row, 'holder'))
  }

  async removeNotes(holder: string): Promise<void> {
    const sql = 'DELETE FROM holder_notes WHERE holder = ?'
    await this.#database.transact([{ sql, params: [keyBytes(holder)] }])
  }

  async removeBlobNotes(beforeMs: number): Promise<void> {
    const sql = 'DELETE FROM holder_notes WHERE kind = ? AND noted_ms < ?'
    await this.#database.transact([{ sql, params: [keyBytes('blob'), beforeMs] }])
  }
}

/**
 * Without co-holders it is the list that earlier versions wrote. With some it is nothing that those understand: a server
 * that does not know of them must fail, not pass them by.
 */
type StoredWriters = LeaseRecord['writers'] | Pick<LeaseRecord, 'writers' | 'coHolders'>

function storedWriters({ writers, coHolders }: LeaseRecord): StoredWriters {
  return coHolders.length === 0 ? writers : { writers, coHolders }
}

function readWriters(stored: StoredWriters): Pick<LeaseRecord, 'writers' | 'coHolders'> {
  return 'coHolders' in stored ? stored : { writers: stored, coHolders: [] }
}

function leaseRecord(branch: BranchId, row: Row): LeaseRecord {
  return {
    branch,
    holder: optionalTextOf<SessionId>(row, 'holder'),
    recalled: numberOf(row, 'recalled') === 1,
    ...readWriters(JSON.parse(new TextDecoder().decode(bytesOf(row, 'writers'))) as StoredWriters),
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
