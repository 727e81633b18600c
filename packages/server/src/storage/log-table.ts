import {
  batchBytesMax,
  type Charge,
  type LogRow,
  logReadBytesMax,
  type LogStore,
} from '@cairn/core'
import { type BranchId, CairnError, type SessionId } from '@cairn/protocol'
import { bytesOf, hashColumn, hashOf, keyBytes, numberOf, textBytes, textOf } from './columns.ts'
import { type Database, type Row, type Statement, tryTransact } from './database.ts'
import { insertStatements } from './statements.ts'
import { chargeToken } from './token-table.ts'

const columns = ['branch', 'seq', 'session', 'number', 'hash', 'bytes', 'answer'] as const
const selected = 'seq, session, number, hash, bytes, answer'

/** The logs of all branches, in SQL. */
export class LogTable implements LogStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async append(
    branch: BranchId,
    rows: readonly LogRow[],
    charges: readonly Charge[] = [],
  ): Promise<void> {
    const [first] = rows
    if (!first) return
    if (rows.some(({ seq }, i) => seq !== first.seq + i)) throw conflict(branch, first.seq)
    const id = keyBytes(branch)
    const statements = [
      raiseHead(id, first.seq - 1, first.seq - 1 + rows.length),
      ...insertStatements({
        table: 'log_rows',
        columns,
        rows: rows.map((row) => [
          id,
          row.seq,
          keyBytes(row.session),
          row.number,
          hashColumn(row.hash),
          row.bytes,
          row.answer === undefined ? null : textBytes(row.answer),
        ]),
      }),
      ...charges.map(chargeToken),
    ]
    if (!(await tryTransact(this.#database, statements))) throw conflict(branch, first.seq)
    // DURABLE: head, rows and what tokens have used are in the database's log on disk; the append may be acknowledged.
  }

  async read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]> {
    const fitting = await this.#countFitting(branch, seq, limit)
    if (fitting === 0) return []
    const rows = await this.#database.query(
      `SELECT ${selected} FROM log_rows WHERE branch = ? AND seq > ? ORDER BY seq LIMIT ?`,
      [keyBytes(branch), seq, fitting],
    )
    return rows.map(logRow)
  }

  /** Asks for their sizes first: 256 of the largest batches would be a gigabyte of memory. */
  async #countFitting(branch: BranchId, seq: number, limit: number): Promise<number> {
    if (limit * batchBytesMax <= logReadBytesMax) return limit
    const rows = await this.#database.query(
      'SELECT LENGTH(bytes) AS size FROM log_rows WHERE branch = ? AND seq > ? ORDER BY seq LIMIT ?',
      [keyBytes(branch), seq, limit],
    )
    let bytes = 0
    const over = rows.findIndex((row) => (bytes += numberOf(row, 'size')) > logReadBytesMax)
    return over < 0 ? rows.length : Math.max(1, over)
  }

  async lastNumber(branch: BranchId, session: SessionId): Promise<number> {
    const [row] = await this.#database.query(
      'SELECT number FROM log_rows WHERE branch = ? AND session = ? ORDER BY number DESC LIMIT 1',
      [keyBytes(branch), keyBytes(session)],
    )
    return row ? numberOf(row, 'number') : 0
  }

  async find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined> {
    const [row] = await this.#database.query(
      `SELECT ${selected} FROM log_rows WHERE branch = ? AND session = ? AND number = ? ORDER BY seq LIMIT 1`,
      [keyBytes(branch), keyBytes(session), number],
    )
    return row && logRow(row)
  }

  async trimmedTo(branch: BranchId): Promise<number> {
    const [row] = await this.#database.query('SELECT trimmed_seq FROM log_heads WHERE branch = ?', [
      keyBytes(branch),
    ])
    return row && row['trimmed_seq'] !== null ? numberOf(row, 'trimmed_seq') : 0
  }

  async trim(branch: BranchId, seq: number, rows: readonly LogRow[]): Promise<void> {
    const id = keyBytes(branch)
    await this.#database.transact([
      ...rows.map((row) => ({
        sql: 'UPDATE log_rows SET bytes = ? WHERE branch = ? AND seq = ? AND hash = ?',
        params: [row.bytes, id, row.seq, hashColumn(row.hash)],
      })),
      {
        sql: 'UPDATE log_heads SET trimmed_seq = ? WHERE branch = ? AND (trimmed_seq IS NULL OR trimmed_seq < ?)',
        params: [seq, id, seq],
      },
    ])
  }
}

/**
 * The server that raises the head from the number it knows may write the rows after it; every other
 * one meets another number. That rules out gaps and doubles at once. A branch without rows has no
 * head yet.
 */
function raiseHead(branch: Uint8Array, from: number, to: number): Statement {
  if (from === 0)
    return {
      sql: 'INSERT INTO log_heads (branch, last_seq) VALUES (?, ?)',
      params: [branch, to],
    }
  return {
    sql: 'UPDATE log_heads SET last_seq = ? WHERE branch = ? AND last_seq = ?',
    params: [to, branch, from],
    expect: 1,
  }
}

function logRow(row: Row): LogRow {
  return {
    seq: numberOf(row, 'seq'),
    session: textOf<SessionId>(row, 'session'),
    number: numberOf(row, 'number'),
    hash: hashOf(row, 'hash'),
    bytes: bytesOf(row, 'bytes'),
    ...(row['answer'] === null ? {} : { answer: textOf(row, 'answer') }),
  }
}

function conflict(branch: BranchId, seq: number): CairnError {
  return new CairnError('sequence_conflict', {
    what: `append batch ${seq} to branch ${branch}`,
    reason: `it does not follow the branch's last`,
    subject: branch,
  })
}
