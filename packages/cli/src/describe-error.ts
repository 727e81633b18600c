import { CairnError, errnoTable, exitCodeOf, isCairnError } from '@cairn/protocol'
import { cliError } from './errors.ts'

export interface Described {
  readonly text: string
  readonly json: { readonly code: string; readonly message: string; readonly hint?: string }
  readonly exitCode: number
}

/** What a person reads, what a program reads, and the exit code. */
export function describeError(error: unknown): Described {
  const known = toCairnError(error)
  const { code, message, what, reason, hint, errno, requestId, subject } = known
  const { conflicts, refused, candidates } = known
  const words = { code, message, what, reason, hint, errno, requestId, subject }
  const json = { ...words, conflicts, refused, candidates }
  return { text: message, json, exitCode: exitCodeOf(known) }
}

function toCairnError(error: unknown): CairnError {
  if (isCairnError(error)) return error
  if (isSystemError(error)) return localFileError(error)
  const part = findMissingPart(error)
  if (part !== undefined)
    return cliError(
      'check_failed',
      'run this command',
      `this cairn was installed as a single file, without ${part}`,
      'Install all of it with: npm install @cairn/cli.',
    )
  const trace = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return cliError(
    'internal',
    'finish the command',
    'this is a bug in cairn',
    `Please report it with these lines:\n${trace}`,
  )
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

/** `cannot open ./a.txt: no such file or directory. Check the path.` for what Node says about local files. */
function localFileError(error: NodeJS.ErrnoException): CairnError {
  const { code = '', syscall = '', message } = error
  // A file is written beside its target first: the target is what the user knows.
  const path = 'dest' in error && typeof error.dest === 'string' ? error.dest : error.path
  const known = Object.entries(errnoTable).find(([name]) => name === code)?.[1][1]
  return new CairnError('local_file', {
    what: [verbs[syscall] ?? syscall, path].filter((part) => part !== undefined).join(' '),
    reason: known ?? message,
    hint: localHints[code],
    errno: code,
    subject: path,
    cause: error,
  })
}

/** For system calls that have another name than what a user wants. */
const verbs: Readonly<Record<string, string>> = {
  scandir: 'list',
  opendir: 'list',
  lstat: 'find',
  stat: 'find',
  access: 'use',
  mkdir: 'make the directory',
  unlink: 'delete',
  rmdir: 'delete',
  rm: 'delete',
  readlink: 'read the symlink',
  symlink: 'make the symlink',
  listen: 'listen on',
  rename: 'replace',
}

const localHints: Readonly<Record<string, string>> = {
  ENOENT: 'Check the path on this machine. A remote path begins with a colon: :/PATH.',
  EACCES: 'Allow it for your user, or choose a path of yours.',
  EPERM: 'Allow it for your user, or choose a path of yours.',
  EISDIR: 'Name a file, or add -r where a command takes directories.',
  ENOTDIR: 'A part of the path is a file. Check the path on this machine.',
  EEXIST: 'Choose another name, or remove what is there first.',
  ENOSPC: 'Free some space on the disk of this machine, then try again.',
  EROFS: 'The disk is read-only. Choose a path on another one.',
}
