import { CairnError, type ErrorCode } from '@cairn/protocol'
import type { SqliteFailure } from './transactions.ts'

/** By SQLite's primary result code. What is not listed is a bug of ours, and stays an ordinary Error. */
const codes: Readonly<Record<number, { readonly code: ErrorCode; readonly why: string }>> = {
  3: { code: 'storage_unavailable', why: 'access to its file was refused' },
  5: { code: 'storage_unavailable', why: 'another program has it locked' },
  8: { code: 'storage_unavailable', why: 'it is read-only' },
  10: { code: 'storage_unavailable', why: 'the disk failed' },
  11: { code: 'corrupt', why: 'the file is damaged' },
  13: { code: 'storage_full', why: 'the disk is full' },
  14: { code: 'storage_unavailable', why: 'its file cannot be opened' },
  26: { code: 'corrupt', why: 'the file is no SQLite database' },
}

export function sqliteError(path: string, verb: string, failure: SqliteFailure): Error {
  const row = codes[(failure.errcode ?? 0) & 0xff]
  if (!row) return new Error(`SQLite refused a statement: ${failure.message}`)
  return new CairnError(row.code, {
    what: `${verb} ${path}`,
    reason: `${row.why} (${failure.message})`,
    subject: path,
  })
}
