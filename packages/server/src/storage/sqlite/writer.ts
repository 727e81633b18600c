import { DatabaseSync } from 'node:sqlite'
import type { Statement } from '../database.ts'
import { bindable } from './bindable.ts'
import { StatementCache } from './statement-cache.ts'
import { type Outcome, sqliteFailure } from './transactions.ts'

/** SQLITE_CONSTRAINT_PRIMARYKEY, _UNIQUE and _ROWID. */
const keyTakenCodes: readonly unknown[] = [1555, 2067, 2579]

class Conflict {
  readonly outcome: Outcome
  constructor(outcome: Outcome) {
    this.outcome = outcome
  }
}

/** The one connection that writes. Synchronous: it lives in a thread of its own. */
export class SqliteWriter {
  readonly #database: DatabaseSync
  readonly #statements: StatementCache

  constructor(path: string) {
    this.#database = new DatabaseSync(path)
    // FULL makes a commit wait until the write-ahead log is on disk; NORMAL would lose the newest ones in a power
    // cut. With the default log of 4 MB every big fold waits for being copied into the database, too: 16k nodes a
    // second instead of 27k. The size limit gives the room of a big fold back.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      PRAGMA cache_size = -65536;
      PRAGMA wal_autocheckpoint = 4000;
      PRAGMA journal_size_limit = 67108864;
    `)
    this.#statements = new StatementCache(this.#database)
  }

  /**
   * All of them in one commit, because waiting for the disk costs the same for one and for many. A conflict
   * undoes its own transaction only.
   */
  run(transactions: readonly (readonly Statement[])[]): readonly Outcome[] {
    try {
      return this.#commit(transactions)
    } catch (error) {
      // Some errors end the transaction by themselves.
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      // A failure takes everything back. Alone, each shows whether the fault was its own.
      if (transactions.length > 1) return transactions.flatMap((each) => this.run([each]))
      return [{ type: 'failed', failure: sqliteFailure(error) }]
    }
  }

  close(): void {
    this.#database.close()
  }

  #commit(transactions: readonly (readonly Statement[])[]): readonly Outcome[] {
    this.#database.exec('BEGIN IMMEDIATE')
    const outcomes = transactions.map((each) => this.#runOne(each))
    this.#database.exec('COMMIT')
    // DURABLE: synchronous = FULL has waited for the disk.
    return outcomes
  }

  #runOne(statements: readonly Statement[]): Outcome {
    this.#database.exec('SAVEPOINT one')
    try {
      statements.forEach((statement, index) => this.#execute(statement, index))
    } catch (error) {
      if (!(error instanceof Conflict)) throw error
      this.#database.exec('ROLLBACK TO one; RELEASE one')
      return error.outcome
    }
    this.#database.exec('RELEASE one')
    return { type: 'done' }
  }

  #execute({ sql, params, expect }: Statement, index: number): void {
    const changes = this.#changes(sql, params, index)
    if (expect !== undefined && changes !== expect)
      throw new Conflict({ type: 'conflict', reason: 'row_count', statement: index })
  }

  #changes(sql: string, params: Statement['params'], index: number): number {
    try {
      return Number(this.#statements.get(sql).run(...bindable(params)).changes)
    } catch (error) {
      if (!keyTakenCodes.includes(sqliteFailure(error).errcode)) throw error
      throw new Conflict({ type: 'conflict', reason: 'key_taken', statement: index })
    }
  }
}
