import type { Dialect } from './dialect.ts'

/**
 * What a column holds. Text is stored as its UTF-8 bytes: as text, databases take 'a', 'A' and 'a ' for the same
 * key, each in its own way. Numbers are whole.
 */
export type SqlValue = number | Uint8Array | null

export type Row = Readonly<Record<string, SqlValue>>

export interface Statement {
  /** In the subset that all dialects share, with `?` for each parameter. */
  readonly sql: string
  readonly params: readonly SqlValue[]
  /**
   * How many rows it must meet, for compare-and-set: an UPDATE counts the rows its WHERE found, changed or not.
   * Not for an INSERT that ends with `Dialect.onTaken`, which each database counts in its own way.
   */
  readonly expect?: number
}

/**
 * A SQL database. Transactions are lists of statements and nothing in between: what a later statement depends on
 * is said by `expect` of an earlier one. So a transaction can be grouped with others, repeated, and sent away.
 */
export interface Database {
  readonly dialect: Dialect
  /** Sees everything whose `transact` has resolved. Rejects with `storage_unavailable`. */
  query(sql: string, params: readonly SqlValue[]): Promise<readonly Row[]>
  /**
   * All or nothing; resolves once it would survive a power cut. Rejects
   * - with StatementConflict, and nothing is changed, when a statement met another number of rows than expected, or
   *   a key that is taken;
   * - with `storage_full`, and nothing is changed;
   * - with `storage_unavailable`: it may have happened all the same, and only asking tells.
   *
   * A statement that changes the schema stands alone: where such ones end a transaction, the rest would be lost.
   */
  transact(statements: readonly Statement[]): Promise<void>
  /**
   * Runs `work` while no other process runs work of that name on this database. The claim dies with the
   * process, and with its connection: what `work` does must bear being done twice.
   */
  exclusively<T>(name: string, work: () => Promise<T>): Promise<T>
  /** Waits for what is under way. Nothing may be asked afterwards. */
  close(): Promise<void>
}

export const conflictReasons = ['row_count', 'key_taken'] as const
export type ConflictReason = (typeof conflictReasons)[number]

/** A compare-and-set that lost. Internal: the tables turn it into an answer. */
export class StatementConflict extends Error {
  override readonly name = 'StatementConflict'
  readonly reason: ConflictReason
  /** Which statement of the transaction, from 0. */
  readonly statement: number

  constructor(reason: ConflictReason, statement: number) {
    super(`statement ${statement} of a transaction met a conflict: ${reason}`)
    this.reason = reason
    this.statement = statement
  }
}

/** True when the transaction happened, false when it lost; rejects with anything else. */
export async function tryTransact(
  database: Database,
  statements: readonly Statement[],
): Promise<boolean> {
  try {
    await database.transact(statements)
    return true
  } catch (error) {
    if (error instanceof StatementConflict) return false
    throw error
  }
}
