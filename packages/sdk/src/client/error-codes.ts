import type { ErrorCode, ErrorRow } from '@cairn/protocol'

/** Failures that no server reports. The rows of those that one reports are in protocol's `errorTable`. */
export const clientErrorTable = {
  unreachable: {
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Check the address, and that the server is running; then try again.',
  },
  timed_out: {
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Try again, or allow more time.',
  },
  bad_answer: {
    errno: 'EPROTO',
    exitCode: 10,
    retry: 'never',
    hint: 'What answered is no Cairn server, or something in between answered for it. Check the address.',
  },
  file_changed: {
    errno: 'ESTALE',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'Another client changed the file meanwhile. Read it again from the start.',
  },
} as const
clientErrorTable satisfies Record<string, Omit<ErrorRow, 'httpStatus'>>

/** Codes of this version; a newer server may send others. */
export type CairnErrorCode = ErrorCode | keyof typeof clientErrorTable | (string & {})

/** What to do about the answers of a file system that people meet most. */
export const errnoHints: Readonly<Record<string, string>> = {
  ENOENT: 'Check the path, or list the directory it should be in.',
  EEXIST: 'Choose another name, or remove what is there first.',
  ENOTDIR: 'Something on the way is a file. Check the path.',
  EISDIR: 'It is a directory: list it, or name a file in it.',
  ENOTEMPTY: 'Remove what is in it first, or remove it recursively.',
  EACCES: 'Ask the owner for a token that allows it.',
  EPERM: 'Ask the owner for a token that allows it.',
  EINVAL: 'A path has no "..", no NUL and no half of a surrogate pair.',
  ENAMETOOLONG: 'A name has at most 255 bytes, a path 4095.',
  ELOOP: 'The symlinks on the way lead in a circle. Mend one of them.',
  ENOSPC: 'Make room on the server, then try again.',
  EDQUOT: 'Make room in the workspace, then try again.',
}
