import { isCairnError } from '@cairn/sdk'
import { isSystemError } from '../describe-error.ts'
import { cliError } from '../errors.ts'

/** Errors of this machine that concern more than one file. */
const fatalErrnos: readonly string[] = [
  'ENOSPC',
  'EDQUOT',
  'EROFS',
  'EMFILE',
  'ENFILE',
  'EIO',
  'EPIPE',
]

/** Whether it is about one file: then the others can still be copied. */
export function isEntryFailure(error: unknown): boolean {
  if (isCairnError(error)) {
    const isOne = ['file_system', 'file_changed', 'local_file', 'too_large'].includes(error.code)
    return isOne && !fatalErrnos.includes(error.errno ?? '')
  }
  return isSystemError(error) && !fatalErrnos.includes(error.code ?? '')
}

export function notCopyable(what: string, kind: string): Error {
  const hint = 'Only files, directories and symlinks are copied.'
  return cliError('local_file', `copy ${what}`, `it is a ${kind}`, hint)
}
