import { largestFileBytes, LayerConflictError, levelsMax } from '@cairn/core'
import {
  type ApiErrorBody,
  CairnError,
  type Errno,
  type ErrorCode,
  errnoHints,
  errnoTable,
  type FsError,
  httpStatusOf,
  isCairnError,
  isFsError,
  nameBytesMax,
  pathBytesMax,
  rowOf,
} from '@cairn/protocol'
import { describeConflict } from '../points/describe.ts'

/** The edge: whatever was thrown becomes a status and a body. */
export interface HttpError {
  readonly status: number
  readonly body: ApiErrorBody
}

const statusOfErrno: Partial<Record<Errno, number>> = {
  ENOENT: 404,
  ESTALE: 404,
  EACCES: 403,
  EPERM: 403,
  EINVAL: 400,
  ENAMETOOLONG: 400,
  ELOOP: 400,
  EFBIG: 413,
  ENOSPC: 507,
  EDQUOT: 507,
}

/** Hints that name the limits of this server. */
const limitHints: Partial<Record<Errno, string>> = {
  ENAMETOOLONG: `A name has at most ${nameBytesMax} bytes, a path ${pathBytesMax - 1}; a directory is at most ${levelsMax} levels deep.`,
  EFBIG: `A file has at most ${largestFileBytes} bytes.`,
}

/** One operation of several could not be done. */
export class OperationFailed extends Error {
  readonly answer: FsError
  readonly subject: string

  constructor(answer: FsError, subject: string) {
    super(`${subject}: ${answer.message}`)
    this.answer = answer
    this.subject = subject
  }
}

/** `what` was attempted, in case the error itself does not say. */
export function toHttpError(error: unknown, requestId: string, what = 'answer'): HttpError {
  const known = toCairnError(error, what)
  const { code, message, reason, hint, subject, retry, candidates, refused } = known
  const errno = known.errno ?? errnoOf(code)
  const conflicts =
    known instanceof LayerConflictError ? known.found.map(describeConflict) : known.conflicts
  const more = present({ errno, subject, conflicts, refused, candidates })
  const { what: attempted } = known
  return {
    status: statusOf(known),
    body: { error: { code, message, what: attempted, reason, hint, retry, ...more, requestId } },
  }
}

/** Without the fields that are undefined. */
function present<T extends object>(fields: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as never
}

function statusOf({ code, errno }: CairnError): number {
  const ofErrno = code === 'file_system' ? statusOfErrno[errno as Errno] : undefined
  return ofErrno ?? httpStatusOf(code)
}

/** Those that a file system gives, too. */
function errnoOf(code: ErrorCode): string | undefined {
  return code === 'quota_exceeded' || code === 'forbidden' ? rowOf(code).errno : undefined
}

function toCairnError(error: unknown, what: string): CairnError {
  if (error instanceof OperationFailed) return fileSystemError(error.answer, what, error.subject)
  if (isFsError(error)) return fileSystemError(error, what)
  return isCairnError(error) ? error : internalError(error, what)
}

function fileSystemError({ code }: FsError, what: string, subject?: string): CairnError {
  const [, meaning] = errnoTable[code]
  return new CairnError('file_system', {
    what,
    reason: subject === undefined ? meaning : `${subject}: ${meaning}`,
    hint: limitHints[code] ?? errnoHints[code],
    errno: code,
    subject,
  })
}

/** Only the log says what it was. */
function internalError(cause: unknown, what: string): CairnError {
  return new CairnError('internal', { what, reason: 'something unforeseen happened', cause })
}
