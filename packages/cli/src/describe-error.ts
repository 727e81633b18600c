import { type ErrorCode, errnoTable, isCairnError, rowOf } from '@cairn/protocol'

export interface Described {
  readonly text: string
  readonly json: { readonly code: string; readonly message: string; readonly hint?: string }
  readonly exitCode: number
}

/** What an errno says that a registered code says too: scripts need not tell the two apart. */
const codeOfErrno: Readonly<Record<string, ErrorCode>> = {
  ENOENT: 'not_found',
  EEXIST: 'workspace_exists',
  EACCES: 'read_only',
  EPERM: 'read_only',
  EROFS: 'read_only',
  EFBIG: 'too_large',
  ENOSPC: 'storage_full',
  EDQUOT: 'storage_full',
}

/** What a person reads, what a program reads, and the exit code. */
export function describeError(error: unknown): Described {
  if (isCairnError(error)) {
    const { code, message, what, reason, hint, errno, requestId, subject } = error
    const { conflicts, refused, candidates } = error
    const words = { code, message, what, reason, hint, errno, requestId, subject }
    const json = { ...words, conflicts, refused, candidates }
    return { text: message, json, exitCode: exitCodeOf(codeOfKind(code, errno)) }
  }
  if (isSystemError(error)) {
    const message = describeSystemError(error)
    return {
      text: message,
      json: { code: 'local_file', message },
      exitCode: exitCodeOf('local_file'),
    }
  }
  const part = findMissingPart(error)
  if (part !== undefined) {
    const message = `cannot run this: the cairn that is one file comes without ${part}. Install all of it: npm install @cairn/cli.`
    const exitCode = exitCodeOf('check_failed')
    return { text: message, json: { code: 'check_failed', message }, exitCode }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const text = `this is a bug in cairn: ${message}`
  return { text, json: { code: 'internal', message }, exitCode: exitCodeOf('internal') }
}

function codeOfKind(code: string, errno: string | undefined): string {
  if (code !== 'file_system' || errno === undefined || !Object.hasOwn(codeOfErrno, errno))
    return code
  return codeOfErrno[errno]!
}

function exitCodeOf(code: string): number {
  return rowOf(code).exitCode
}

/** A package of ours that is not installed: few commands need it, and it is too large to be a part of the others. */
function findMissingPart(error: unknown): string | undefined {
  const { code, message } = error as NodeJS.ErrnoException
  if (code !== 'ERR_MODULE_NOT_FOUND') return undefined
  return /Cannot find package '(@cairn\/[\w-]+)'/.exec(message)?.[1]
}

/** What Node says about files, pipes and sockets of this machine. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

/** `cannot open ./a.txt: no such file or directory` for what Node says about local files. */
function describeSystemError({ code = '', syscall, path, message }: NodeJS.ErrnoException): string {
  const known = Object.entries(errnoTable).find(([name]) => name === code)?.[1][1]
  const what = [syscall, path].filter((part) => part !== undefined).join(' ')
  return `cannot ${what}: ${known ?? message}.`
}
