import { largestFileBytes, LayerConflictError, levelsMax } from '@cairn/core'
import {
  type ApiErrorBody,
  CairnError,
  type Errno,
  type ErrorCode,
  errorTable,
  type FsError,
  isCairnError,
  isFsError,
  nameBytesMax,
  pathBytesMax,
} from '@cairn/protocol'
import { describeConflict } from '../points/describe.ts'
import { AmbiguousReferenceError, RefusedMergeError } from '../points/errors.ts'

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

/** The limits that were met, where an errno is about one. */
const limitOfErrno: Partial<Record<Errno, string>> = {
  ENAMETOOLONG: `: a name has at most ${nameBytesMax} bytes, a path ${pathBytesMax - 1}; a directory is at most ${levelsMax} levels deep`,
  EFBIG: `: a file has at most ${largestFileBytes} bytes`,
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

/** `subject` names what it was about, where the error does not. */
export function toHttpError(error: unknown, requestId: string, subject?: string): HttpError {
  if (error instanceof OperationFailed)
    return fileSystemError(error.answer, requestId, error.subject)
  if (isFsError(error)) return fileSystemError(error, requestId, subject)
  const known = isCairnError(error) ? error : internalError(error)
  const { httpStatus, hint, retry } = errorTable[known.code]
  const about = known.subject ?? subject
  return {
    status: httpStatus,
    body: {
      error: {
        code: known.code,
        message: known.message,
        hint,
        ...(hasErrno(known.code) ? { errno: errorTable[known.code].errno } : {}),
        retry,
        ...(about === undefined ? {} : { subject: about }),
        ...listsOf(known),
        requestId,
      },
    },
  }
}

/** Those that a file system gives, too. */
function hasErrno(code: ErrorCode): boolean {
  return code === 'quota_exceeded' || code === 'forbidden'
}

/** What an error names besides its subject. */
function listsOf(
  error: CairnError,
): Pick<ApiErrorBody['error'], 'conflicts' | 'refused' | 'candidates'> {
  if (error instanceof LayerConflictError) {
    const conflicts = error.conflicts.map(describeConflict)
    return error instanceof RefusedMergeError
      ? { conflicts, refused: error.refused }
      : { conflicts }
  }
  return error instanceof AmbiguousReferenceError ? { candidates: error.candidates } : {}
}

function fileSystemError(error: FsError, requestId: string, subject?: string): HttpError {
  const { hint, retry, httpStatus } = errorTable.file_system
  const message = `${subject === undefined ? '' : `${subject}: `}${error.message}`
  return {
    status: statusOfErrno[error.code] ?? httpStatus,
    body: {
      error: {
        code: 'file_system',
        message: `${message}${limitOfErrno[error.code] ?? ''}`,
        hint,
        errno: error.code,
        retry,
        ...(subject === undefined ? {} : { subject }),
        requestId,
      },
    },
  }
}

/** What nobody foresaw is told to nobody but the log. */
function internalError(cause: unknown): CairnError {
  return new CairnError('internal', {
    message: 'cannot answer: something unforeseen happened',
    cause,
  })
}
