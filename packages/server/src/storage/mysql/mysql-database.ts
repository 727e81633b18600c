import { hash } from 'node:crypto'
import mysql, { type Pool, type PoolConnection } from 'mysql2/promise'
import { CairnError } from '@cairn/protocol'
import {
  type Database,
  type Row,
  type SqlValue,
  type Statement,
  StatementConflict,
} from '../database.ts'
import type { Dialect } from '../dialect.ts'
import { retry, type RetryOptions } from '../retry.ts'
import { describePlace, type MysqlConfig } from './config.ts'
import { mysqlDialect } from './dialect.ts'
import { isTimeout, mysqlError, troubleOf } from './errors.ts'

/** Deadlocks want a moment, a restarting server some seconds; what takes longer is told to the client. */
const retryOptions: RetryOptions = { attempts: 6, firstDelayMs: 20, delayMsMax: 500 }
const exclusiveWaitSec = 60

/** A transaction whose COMMIT was sent and not answered. */
class UnknownOutcome {
  readonly cause: unknown
  constructor(cause: unknown) {
    this.cause = cause
  }
}

/**
 * MariaDB, MySQL or TiDB; docs/reference/stores.md says which were tried. What it promises rests on the server:
 * `innodb_flush_log_at_trx_commit = 1`, the default, is what makes a commit wait for the disk.
 */
export class MysqlDatabase implements Database {
  readonly dialect: Dialect = mysqlDialect
  readonly #pool: Pool
  readonly #place: string
  readonly #config: MysqlConfig
  readonly #running = new Set<Promise<unknown>>()

  private constructor(config: MysqlConfig) {
    this.#config = config
    this.#place = describePlace(config)
    this.#pool = openPool(config)
  }

  /** Rejects with `storage_misconfigured` or `storage_unavailable` where the server cannot be used. */
  static async open(config: MysqlConfig): Promise<MysqlDatabase> {
    const database = new MysqlDatabase(config)
    try {
      await database.query('SELECT 1', [])
      return database
    } catch (error) {
      await database.close()
      throw error
    }
  }

  query(sql: string, params: readonly SqlValue[]): Promise<readonly Row[]> {
    return this.#again(() =>
      this.#onConnection(async (connection) => {
        const result = await this.#execute(connection, { sql, params })
        return Array.isArray(result) ? (result as Row[]).map(ownBytes) : []
      }),
    )
  }

  transact(statements: readonly Statement[]): Promise<void> {
    return this.#again(() =>
      this.#onConnection((connection) => this.#attempt(connection, statements)),
    )
  }

  async exclusively<T>(name: string, work: () => Promise<T>): Promise<T> {
    // Such locks belong to the whole server, whichever database is in use.
    const lock = `cairn_${name}_${hash('sha256', this.#config.database).slice(0, 16)}`
    const connection = await this.#again(() => this.#pool.getConnection())
    try {
      await this.#lock(connection, lock)
      return await work()
    } finally {
      // The lock ends with its connection, even where the way to the server is broken.
      connection.destroy()
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#running)
    await this.#pool.end()
  }

  async #lock(connection: PoolConnection, lock: string): Promise<void> {
    const sql = `SELECT GET_LOCK('${lock}', ${exclusiveWaitSec}) AS got`
    const timeout = (exclusiveWaitSec + 10) * 1000
    const [rows] = await connection.query<mysql.RowDataPacket[]>({ sql, timeout })
    if (rows[0]?.['got'] === 1) return
    throw new CairnError('storage_unavailable', {
      what: `get hold of ${lock} on ${this.#place}`,
      reason: `another server has had it for ${exclusiveWaitSec} s`,
      subject: this.#place,
    })
  }

  /** Everything up to COMMIT may be repeated: a connection that is lost before takes its transaction with it. */
  async #attempt(connection: PoolConnection, statements: readonly Statement[]): Promise<void> {
    await connection.query({ sql: 'BEGIN', timeout: this.#config.timeoutMs })
    for (const [index, statement] of statements.entries())
      await this.#check(connection, statement, index)
    try {
      await connection.query({ sql: 'COMMIT', timeout: this.#config.timeoutMs })
    } catch (error) {
      throw troubleOf(error) === 'unavailable' ? new UnknownOutcome(error) : error
    }
    // DURABLE: the server has the transaction on its disk.
  }

  async #check(connection: PoolConnection, statement: Statement, index: number): Promise<void> {
    const { expect } = statement
    try {
      const result = await this.#execute(connection, statement)
      if (expect === undefined || affectedRows(result) === expect) return
    } catch (error) {
      throw troubleOf(error) === 'key_taken' ? new StatementConflict('key_taken', index) : error
    }
    throw new StatementConflict('row_count', index)
  }

  async #execute(connection: PoolConnection, { sql, params }: Statement): Promise<unknown> {
    const timeout = this.#config.timeoutMs
    // Prepared, so that bytes travel as they are; as text they would be twice as long.
    const [result] =
      params.length === 0
        ? await connection.query({ sql, timeout })
        : await connection.execute({ sql, timeout, values: params.map(parameter) })
    return result
  }

  async #onConnection<T>(work: (connection: PoolConnection) => Promise<T>): Promise<T> {
    const connection = await this.#pool.getConnection()
    try {
      const result = await work(connection)
      connection.release()
      return result
    } catch (error) {
      await giveBack(connection, error)
      throw error
    }
  }

  async #again<T>(work: () => Promise<T>): Promise<T> {
    const attempts = retry(work, isPassing, retryOptions)
    this.#running.add(attempts)
    try {
      return await attempts
    } catch (error) {
      if (error instanceof StatementConflict) throw error
      throw mysqlError(this.#place, error instanceof UnknownOutcome ? error.cause : error)
    } finally {
      this.#running.delete(attempts)
    }
  }
}

/** What took too long once would take too long again, and has cost the caller enough. */
function isPassing(error: unknown): boolean {
  return ['repeat', 'unavailable'].includes(troubleOf(error)) && !isTimeout(error)
}

/** A connection that failed, or whose transaction is in the middle of something, is of no use to the next one. */
async function giveBack(connection: PoolConnection, error: unknown): Promise<void> {
  if (error instanceof UnknownOutcome || troubleOf(error) === 'unavailable')
    return connection.destroy()
  try {
    await connection.query('ROLLBACK')
    connection.release()
  } catch {
    connection.destroy()
  }
}

function openPool(config: MysqlConfig): Pool {
  const { host, port, user, password, database, tls } = config
  const pool = mysql.createPool({
    host,
    port,
    user,
    password,
    database,
    ...(tls ? { ssl: {} } : {}),
    charset: 'utf8mb4',
    connectTimeout: Math.min(5000, config.timeoutMs),
    connectionLimit: 16,
    // Servers allow some 16,000 prepared statements in all: 16 connections of 8 Cairn servers fit.
    maxPreparedStatements: 120,
    // Otherwise numbers from 2^53 on are rounded without a word.
    supportBigNumbers: true,
  })
  // Lenient servers cut values off where these refuse them; and a lock is not worth waiting 50 s for.
  const settings = "SET SESSION sql_mode = 'STRICT_ALL_TABLES', innodb_lock_wait_timeout = 10"
  pool.pool.on('connection', (connection) => {
    connection.query(settings, (error) => {
      if (error) connection.destroy()
    })
  })
  return pool
}

/** Numbers would travel as floating point, which LIMIT refuses and an index may not like. */
function parameter(value: SqlValue): unknown {
  if (typeof value === 'number') return mysql.TypedParameter.BIGINT(value)
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
  return value
}

/**
 * The driver gives views of what came over the wire; a caller that keeps a small value would keep
 * all of that.
 */
function ownBytes(row: Row): Row {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [
      column,
      value instanceof Uint8Array ? new Uint8Array(value) : value,
    ]),
  )
}

function affectedRows(result: unknown): number | undefined {
  return (result as { affectedRows?: number }).affectedRows
}
