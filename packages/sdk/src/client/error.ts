import {
  type ApiErrorBody,
  errnoTable,
  errorTable,
  type FsError,
  type LayerConflict,
  type RefusedMerge,
  type RetryClass,
} from '@cairn/protocol'
import { type CairnErrorCode, clientErrorTable, errnoHints } from './error-codes.ts'

export interface CairnErrorDetails {
  /** Follows "cannot": `read /a.txt`. */
  readonly what: string
  readonly reason: string
  readonly hint?: string | undefined
  readonly retry?: RetryClass | undefined
  readonly errno?: string | undefined
  readonly status?: number | undefined
  readonly subject?: string | undefined
  readonly requestId?: string | undefined
  readonly conflicts?: readonly LayerConflict[] | undefined
  readonly refused?: RefusedMerge | undefined
  readonly candidates?: readonly string[] | undefined
  readonly retryAfterMs?: number | undefined
  readonly cause?: unknown
}

/**
 * What every failed call throws. `message` reads `cannot <verb> <thing>: <why>. <what to do>`; programs look at
 * `code` and, where a file system said no, at `errno`.
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
  readonly code: CairnErrorCode
  /** The message without what to do. */
  readonly problem: string
  readonly hint: string
  /** `ENOENT` and the like, where a file system said no. */
  readonly errno: string | undefined
  /** Whether sending it again can help. Calls have already tried again where that was safe. */
  readonly retry: RetryClass
  /** The HTTP status, if there was an answer. */
  readonly status: number | undefined
  /** The part of the request that failed, such as `operations[3]` of a batch. */
  readonly subject: string | undefined
  /** Set with `layer_conflict`: every path that is in the way. */
  readonly conflicts: readonly LayerConflict[] | undefined
  /** Set with `layer_conflict`: what would have been merged, who asked for it, and when. */
  readonly refused: RefusedMerge | undefined
  /** Set with `reference_ambiguous`: everything that may have been meant. */
  readonly candidates: readonly string[] | undefined
  /** Finds the request in the server's log. */
  readonly requestId: string | undefined
  readonly retryAfterMs: number | undefined

  constructor(code: CairnErrorCode, details: CairnErrorDetails) {
    const row = rowOf(code)
    const hint = details.hint ?? row?.hint ?? 'The documentation of the code tells more.'
    const problem = `cannot ${details.what}: ${details.reason}`
    super(`${problem}. ${hint}`, { cause: details.cause })
    this.code = code
    this.problem = problem
    this.hint = hint
    this.errno = details.errno
    this.retry = details.retry ?? row?.retry ?? 'never'
    this.status = details.status
    this.subject = details.subject
    this.conflicts = details.conflicts
    this.refused = details.refused
    this.candidates = details.candidates
    this.requestId = details.requestId
    this.retryAfterMs = details.retryAfterMs
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
export function isCairnError(error: unknown, code?: CairnErrorCode): error is CairnError {
  if (!(error instanceof Error) || error.name !== 'CairnError') return false
  return code === undefined || (error as CairnError).code === code
}

/** The row of a code, wherever it is listed; undefined for one of a newer server. */
export function rowOf(
  code: string,
): { exitCode: number; retry: RetryClass; hint: string } | undefined {
  if (Object.hasOwn(errorTable, code)) return errorTable[code as keyof typeof errorTable]
  if (Object.hasOwn(clientErrorTable, code))
    return clientErrorTable[code as keyof typeof clientErrorTable]
  return undefined
}

/** An answer of the file system that could be given without asking the server. */
export function fromFsError(what: string, error: FsError): CairnError {
  const [, reason] = errnoTable[error.code]
  const hint = errnoHints[error.code]
  return new CairnError('file_system', { what, reason, hint, errno: error.code, cause: error })
}

/** From the body of an answer that says no; undefined when the body is not ours. */
export function fromErrorBody(
  what: string,
  body: string,
  answer: { readonly status: number; readonly retryAfterMs: number | undefined },
): CairnError | undefined {
  const error = parseErrorBody(body)
  if (error === undefined) return undefined
  const { code, errno } = error
  const hint = (errno === undefined ? undefined : errnoHints[errno]) ?? error.hint
  return new CairnError(code, { ...error, ...answer, what, reason: reasonOf(error), hint })
}

function parseErrorBody(body: string): ApiErrorBody['error'] | undefined {
  try {
    const error = (JSON.parse(body) as Partial<ApiErrorBody> | null)?.error
    return typeof error?.code === 'string' && typeof error.message === 'string' ? error : undefined
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The server's own words, less those that are said anyway: its "cannot …:", the path, the hint. */
function reasonOf({ code, errno, message, hint, subject }: ApiErrorBody['error']): string {
  const known = Object.entries(errnoTable).find(([name]) => name === errno)?.[1][1]
  const inside = subject?.startsWith('operations[') === true ? `${subject}: ` : ''
  // What the token allows instead is worth more than the errno's words.
  if (known !== undefined && code !== 'forbidden') return inside + known
  const words = message.endsWith(hint) ? message.slice(0, -hint.length) : message
  return (
    inside +
    words
      .trim()
      .replace(/\.$/, '')
      .replace(/^cannot [^:]+: /, '')
  )
}
