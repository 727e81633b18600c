import type { ConflictReason } from '../database.ts'

/** What goes between the thread that asks and the thread that writes. */

/** What became of a transaction. */
export type Outcome =
  | { readonly type: 'done' }
  | { readonly type: 'conflict'; readonly reason: ConflictReason; readonly statement: number }
  | { readonly type: 'failed'; readonly failure: SqliteFailure }

/** An error of SQLite, in a form that crosses threads. */
export interface SqliteFailure {
  readonly message: string
  /** SQLite's extended result code; undefined for what is no error of SQLite. */
  readonly errcode: number | undefined
}

export function sqliteFailure(error: unknown): SqliteFailure {
  const message = error instanceof Error ? error.message : String(error)
  const errcode = error instanceof Error && 'errcode' in error ? error.errcode : undefined
  return { message, errcode: typeof errcode === 'number' ? errcode : undefined }
}
