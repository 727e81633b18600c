import { type BranchId, decodeTrace, encodeTrace, type Ino, type Trace } from '@cairn/protocol'
import type { TraceStore } from '../ports/trace-store.ts'
import { bytesOf, keyBytes, numberOf } from './columns.ts'
import type { Database } from './database.ts'
import { insertStatements } from './statements.ts'

const columns = ['branch', 'root', 'items', 'noted_ms'] as const
/** Directories of a branch that have one. With 30 KB each, a branch has at most half a megabyte. */
const rootsMax = 16

/** Traces in SQL: a row for each directory that was mounted. */
export class TraceTable implements TraceStore {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async find(branch: BranchId, root: Ino): Promise<Trace> {
    const sql = 'SELECT items FROM traces WHERE branch = ? AND root = ?'
    const [row] = await this.#database.query(sql, [keyBytes(branch), root])
    return row ? decodeTrace(bytesOf(row, 'items')) : []
  }

  async put(branch: BranchId, root: Ino, trace: Trace, nowMs: number): Promise<void> {
    const [first, second, ...rest] = columns
    const onTaken = this.#database.dialect.onTaken([first, second], rest)
    const rows = [[keyBytes(branch), root, encodeTrace(trace), nowMs]]
    const old = await this.#rootsBeyond(branch, root)
    await this.#database.transact([
      ...insertStatements({ table: 'traces', columns, rows, onTaken }),
      ...old.map((other) => ({
        sql: 'DELETE FROM traces WHERE branch = ? AND root = ?',
        params: [keyBytes(branch), other],
      })),
    ])
  }

  /** Those that are too many beside `root`. */
  async #rootsBeyond(branch: BranchId, root: Ino): Promise<readonly number[]> {
    const sql = 'SELECT root FROM traces WHERE branch = ? AND root <> ? ORDER BY noted_ms DESC'
    const rows = await this.#database.query(sql, [keyBytes(branch), root])
    return rows.slice(rootsMax - 1).map((row) => numberOf(row, 'root'))
  }
}
