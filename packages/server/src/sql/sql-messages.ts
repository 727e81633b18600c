import type { SizedDataFile } from './data/data-file-name.ts'
import type { SqlRow } from './tables.ts'

/** From the server to the process that runs a statement. */
export type SqlRequest =
  | {
      readonly type: 'prepare'
      readonly sql: string
      readonly comparisons: number
      readonly dataFiles: readonly SizedDataFile[]
    }
  | {
      readonly type: 'run'
      /** The database with the tree; absent where the statement reads no files. */
      readonly tree: string | undefined
      readonly tables: readonly { readonly name: string; readonly rows: readonly SqlRow[] }[]
      readonly limits: { readonly rows: number; readonly bytes: number }
    }

/** JSON has no other values. Bytes come in base64, integers beyond 2^53 as text. */
export type SqlResultValue = SqlRow[number] | { readonly base64: string }

export interface SqlResult {
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlResultValue[])[]
  readonly truncated: 'rows' | 'bytes' | null
}

export type SqlReply =
  /** `table.column`, of all that the statement reads. */
  | { readonly type: 'prepared'; readonly reads: readonly string[] }
  | ({ readonly type: 'result'; readonly cpuMs: number } & SqlResult)
  | {
      readonly type: 'refused'
      readonly reason: string
      readonly hint?: string
      /** The tables that files became, with their columns. */
      readonly dataTables?: readonly string[]
    }

/**
 * The pipe over which the process asks for contents: an inode number a line, or the number of a file that is a table and an
 * offset. The answer is a length and the bytes.
 */
export const contentPipe = 3
/** Instead of a length: the content is no text, too large, or not for this caller. */
export const noContent = 0xff_ff_ff_ff
/** A larger message would hold the server's loop for milliseconds. */
export const dataPartBytes: number = 1 << 20
