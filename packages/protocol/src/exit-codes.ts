/** What each exit code of `cairn` means. A code means the same in every command. */
export const exitTable = {
  0: 'done',
  1: 'failed for a reason that has no code of its own; the message says which',
  2: 'a mistake in the command, in an argument or in a request',
  3: 'no server or workspace is set, or the key is missing, wrong or no longer valid',
  4: 'not found, here or on the server',
  5: 'exists already',
  6: 'changed since it was read',
  7: 'too large',
  8: 'not allowed, or read-only',
  9: 'a layer is in conflict',
  10: 'the two sides do not understand each other: another version, or no Cairn server',
  11: 'stored data is damaged or missing',
  12: 'the server or its store does not answer; try again later',
  13: 'another client was first; read again, then try again',
  14: 'the lease was lost to another writer',
  15: 'a number or key that marks a request was used for another one',
  16: 'its state forbids it: closed, sealed, in use, or the last one',
  17: 'the name or point does not fit: ambiguous, outdated, or nothing to undo',
  18: 'no space left on the disk or in the quota',
  19: 'the store is set up wrongly',
  70: 'a bug in Cairn',
  130: 'stopped by Ctrl-C',
  141: 'the reader of the output went away',
  143: 'stopped by SIGTERM',
} as const
exitTable satisfies Record<number, string>

export type ExitCode = keyof typeof exitTable

/** A file system that refuses ends a command as the other errors of the same kind do, here and on the server. */
const codes: Readonly<Record<string, ExitCode>> = {
  ENOENT: 4,
  EEXIST: 5,
  EFBIG: 7,
  EACCES: 8,
  EPERM: 8,
  EROFS: 8,
  ENOSPC: 18,
  EDQUOT: 18,
}

export function exitCodeOfErrno(errno: string): ExitCode {
  return Object.hasOwn(codes, errno) ? codes[errno]! : 1
}
