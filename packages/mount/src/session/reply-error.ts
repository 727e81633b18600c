import {
  CairnError,
  type Errno,
  errnoTable,
  type ErrorCode,
  errorTable,
  FsError,
  isCairnError,
  isFsError,
} from '@cairn/protocol'

/** What a server said no with. */
export function replyError(code: string, message: string): Error {
  if (code in errnoTable) return new FsError(code as Errno)
  const known = code in errorTable ? (code as ErrorCode) : 'internal'
  // The server's words have the hint at their end already.
  const hint = `. ${errorTable[known].hint}`
  const bare = message.endsWith(hint) ? message.slice(0, -hint.length) : message
  return new CairnError(known, { message: bare })
}

/** Whether the same would be said next time. */
export function isFinal(error: unknown): boolean {
  return isFsError(error) || (isCairnError(error) && errorTable[error.code].retry === 'never')
}
