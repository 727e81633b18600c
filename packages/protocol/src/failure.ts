import { type Errno, errnoTable, FsError, isFsError } from './errno.ts'
import { type ErrorCode, errorTable } from './error-table.ts'
import { CairnError, isCairnError } from './errors.ts'

/** An error in a message to another process. `code` may be an errno; then the words are empty. */
export interface FailureFields {
  readonly code: string
  readonly what: string
  readonly reason: string
  readonly hint: string
  readonly subject: string
}

/** What was not foreseen says nothing but `internal`: its words may hold what is not for the other side. */
export function toFailure(error: unknown): FailureFields {
  const { what = '', reason = '', hint = '', subject = '' } = isCairnError(error) ? error : {}
  const code = isFsError(error) || isCairnError(error) ? error.code : 'internal'
  return { code, what, reason, hint, subject }
}

/** Rebuilds the error of such a message. */
export function fromFailure({ code, what, reason, hint, subject }: FailureFields): Error {
  if (Object.hasOwn(errnoTable, code)) return new FsError(code as Errno)
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal'
  return new CairnError(known, {
    what: what || 'go on',
    reason: reason || `the other side answers ${code}`,
    hint: hint || undefined,
    subject: subject || undefined,
  })
}
