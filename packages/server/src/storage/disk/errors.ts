import { CairnError } from '@cairn/protocol'

/** Wraps what a system call gave; anything else stays as it is. */
export function diskError(verb: string, path: string, error: unknown): unknown {
  if (!isSystemError(error)) return error
  const full = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  return new CairnError(full ? 'storage_full' : 'storage_unavailable', {
    what: `${verb} ${path}`,
    reason: `${full ? 'the disk is full' : error.message}`,
    subject: path,
    cause: error,
  })
}

export function isMissing(error: unknown): boolean {
  return hasCode(error, 'ENOENT') || hasCode(error, 'ENOTDIR')
}

export function hasCode(error: unknown, code: string): boolean {
  return isSystemError(error) && error.code === code
}

function isSystemError(error: unknown): error is Error & { code: string; syscall: string } {
  return error instanceof Error && 'code' in error && 'syscall' in error
}
