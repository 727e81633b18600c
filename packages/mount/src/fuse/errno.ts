import { errnoTable, errorTable, isCairnError, isFsError } from '@cairn/protocol'

/** Errnos that are given at this door, most of them by no file system. */
export const errno = {
  EPERM: 1,
  EINTR: 4,
  EIO: 5,
  EAGAIN: 11,
  ENODEV: 19,
  ENOTTY: 25,
  ENOSYS: 38,
  ENODATA: 61,
  EPROTO: 71,
  ETIMEDOUT: 110,
} as const

/** An errno that no file system gives, such as ENOSYS, which tells the kernel not to ask again. */
export class RawErrno extends Error {
  override readonly name = 'RawErrno'
  readonly errno: number

  constructor(number: number) {
    super(`errno ${number}`)
    this.errno = number
  }
}

/** What the program that asked sees. */
export function errnoOf(error: unknown): number {
  if (isFsError(error)) return errnoTable[error.code][0]
  if (error instanceof RawErrno) return error.errno
  if (isCairnError(error)) return errnoTable[errorTable[error.code].errno][0]
  return errno.EIO
}

/** An answer like any other; everything else is worth telling a person. */
export function isOrdinary(error: unknown): boolean {
  return isFsError(error) || error instanceof RawErrno
}
