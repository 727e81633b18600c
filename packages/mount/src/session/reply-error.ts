import {
  CairnError,
  type Errno,
  errnoTable,
  type ErrorCode,
  errorTable,
  type FailureFields,
  FsError,
  isCairnError,
  isFsError,
  rowOf,
} from '@cairn/protocol'

/** The error that a server sent, rebuilt. */
export function replyError({ code, what, reason, hint, subject }: FailureFields): Error {
  if (code in errnoTable) return new FsError(code as Errno)
  const known = Object.hasOwn(errorTable, code) ? (code as ErrorCode) : 'internal'
  return new CairnError(known, {
    what: what || 'go on with the session',
    reason: reason || `the server answers ${code}`,
    hint: hint || undefined,
    subject: subject || undefined,
  })
}

/** Whether the same would be said next time. */
export function isFinal(error: unknown): boolean {
  return isFsError(error) || (isCairnError(error) && rowOf(error.code).retry === 'never')
}
