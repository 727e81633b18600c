import { errnoHints, errnoTable, type FsError } from './errno.ts'
import type { ErrorRow, RetryClass } from './error-row.ts'
import { type ErrorCode, errorTable } from './error-table.ts'
import { type ExitCode, exitCodeOfErrno } from './exit-codes.ts'
import type { ApiErrorBody } from './routes/errors.ts'
import type { LayerConflict, RefusedMerge } from './routes/layer-shapes.ts'

export interface ErrorDetails {
  /** What was attempted. Follows "cannot": `read /a.txt`. */
  readonly what: string
  /** Why it failed, with the value that was wrong. */
  readonly reason: string
  /** What to do about this failure; the row of the code has one that always fits. */
  readonly hint?: string | undefined
  /** What it is about: the id of a node or blob, a branch, a path. */
  readonly subject?: string | undefined
  readonly errno?: string | undefined
  readonly retry?: RetryClass | undefined
  readonly status?: number | undefined
  readonly requestId?: string | undefined
  readonly retryAfterMs?: number | undefined
  readonly conflicts?: readonly LayerConflict[] | undefined
  readonly refused?: RefusedMerge | undefined
  readonly candidates?: readonly string[] | undefined
  readonly cause?: unknown
}

/**
 * Every failure, in the server, the SDK and the command line. `message` reads `cannot <what>: <reason>. <hint>`.
 * Programs look at `code` and, where a file system refused, at `errno`; never at the words.
 *
 * @example
 * ```ts
 * try {
 *   await workspace.files.read('/plan.md')
 * } catch (error) {
 *   if (!isCairnError(error) || error.errno !== 'ENOENT') throw error
 * }
 * ```
 */
export class CairnError extends Error {
  override readonly name = 'CairnError'
  readonly code: ErrorCode
  /** What was attempted, without "cannot": `read /a.txt`. */
  readonly what: string
  readonly reason: string
  /** What to do next. */
  readonly hint: string
  /** What it is about: an id, a path, `operations[3]` of a batch. */
  readonly subject: string | undefined
  /** `ENOENT` and the like, where a file system refused. */
  readonly errno: string | undefined
  /** Whether sending it again can help. The SDK has already tried again where that was safe. */
  readonly retry: RetryClass
  /** The HTTP status, if a server answered. */
  readonly status: number | undefined
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined
  /** Set by `layer_conflict`: every path in conflict. */
  readonly conflicts: readonly LayerConflict[] | undefined
  /** Set by `layer_conflict`: what would have been merged, who asked for it, and when. */
  readonly refused: RefusedMerge | undefined
  /** Set by `reference_ambiguous`: the ids that match. */
  readonly candidates: readonly string[] | undefined

  constructor(code: ErrorCode, details: ErrorDetails) {
    const { what, reason, hint = rowOf(code).hint } = details
    super(`cannot ${what}: ${reason}. ${hint}`, { cause: details.cause })
    this.code = code
    this.what = what
    this.reason = reason
    this.hint = hint
    this.subject = details.subject
    this.errno = details.errno
    this.retry = details.retry ?? rowOf(code).retry
    this.status = details.status
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
    this.conflicts = details.conflicts
    this.refused = details.refused
    this.candidates = details.candidates
  }

  /** The message without the hint. */
  get problem(): string {
    return `cannot ${this.what}: ${this.reason}`
  }
}

/**
 * By name, not by class: two copies of this package may meet in one process.
 *
 * @example
 * ```ts
 * if (isCairnError(error, 'workspace_exists')) return
 * ```
 */
export function isCairnError(error: unknown, code?: ErrorCode): error is CairnError {
  if (!(error instanceof Error) || error.name !== 'CairnError') return false
  return code === undefined || (error as CairnError).code === code
}

/** An answer of the file system, as an error with words. */
export function fromFsError(what: string, error: FsError): CairnError {
  const [, reason] = errnoTable[error.code]
  const hint = errnoHints[error.code]
  return new CairnError('file_system', { what, reason, hint, errno: error.code, cause: error })
}

/** Rebuilds the error that a server sent. A newer server may send a code that this table lacks. */
export function fromErrorBody(body: ApiErrorBody['error'] & Partial<ErrorDetails>): CairnError {
  return new CairnError(body.code as ErrorCode, body)
}

/** The row of a code, also of one that only a newer server knows. */
export function rowOf(code: string): ErrorRow {
  if (Object.hasOwn(errorTable, code)) return errorTable[code as ErrorCode]
  return unknownRow
}

/** How a `cairn` command ends that fails with this error. */
export function exitCodeOf({ code, errno }: Pick<CairnError, 'code' | 'errno'>): ExitCode {
  const isOfErrno = code === 'file_system' || code === 'local_file'
  return isOfErrno && errno !== undefined ? exitCodeOfErrno(errno) : rowOf(code).exitCode
}

/** The status with which a server sends the code. */
export function httpStatusOf(code: string): number {
  return rowOf(code).httpStatus ?? 500
}

const unknownRow: ErrorRow = {
  errno: 'EIO',
  exitCode: 1,
  retry: 'never',
  hint: 'This version of Cairn does not know the code. Update it, or read about the code in docs/reference/errors.md.',
}
