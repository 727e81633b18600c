import type { Errno } from './errno.ts'

/** Whether sending it again can help: never, as it is, or after reading the state again. */
export type RetryClass = 'never' | 'same-request' | 'after-refresh'

export interface ErrorRow {
  readonly httpStatus: number
  /** What a program in a mount sees. */
  readonly errno: Errno
  readonly exitCode: number
  readonly retry: RetryClass
  /** What the person who meets it should do next. */
  readonly hint: string
}

/** Every failure Cairn can report. docs/reference/errors.md lists the same codes; a test compares them. */
export const errorTable = {
  unauthenticated: {
    httpStatus: 401,
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'Give a valid key: cairn ctx add, or set CAIRN_API_KEY.',
  },
  forbidden: {
    httpStatus: 403,
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'The token does not allow it. Ask its owner for one that does; see what this one may with: cairn token show.',
  },
  host_refused: {
    httpStatus: 403,
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'Use the address that the server printed, or start it with: cairn serve --allow-host NAME.',
  },
  access_ended: {
    httpStatus: 401,
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'The token or key was revoked, or its time is over. Ask the owner for another one; a token that expired can be refreshed: cairn token refresh.',
  },
  too_many_attempts: {
    httpStatus: 429,
    errno: 'EAGAIN',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Too many wrong keys came from this address. Wait for as long as Retry-After says, and check the key.',
  },
  too_many_requests: {
    httpStatus: 429,
    errno: 'EAGAIN',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Send the same again when some of the other requests have ended.',
  },
  token_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such token. See what there is with: cairn token list.',
  },
  key_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such owner key. See what there is with: cairn key ls.',
  },
  key_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'Choose another name: a name belongs to one key for ever, so that the log stays clear. For a new secret, run: cairn key rotate NAME.',
  },
  last_key: {
    httpStatus: 409,
    errno: 'EPERM',
    exitCode: 16,
    retry: 'never',
    hint: 'Add another key first: cairn key add NAME.',
  },
  not_found: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such route or upload. See docs/reference/http.md.',
  },
  workspace_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'Make it with: cairn ws create NAME, or see what there is with: cairn ws ls.',
  },
  workspace_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'Choose another name, or use the one that is there.',
  },
  precondition_failed: {
    httpStatus: 412,
    errno: 'EEXIST',
    exitCode: 6,
    retry: 'after-refresh',
    hint: 'It has changed since it was read. Read it again and decide anew.',
  },
  read_only: {
    httpStatus: 403,
    errno: 'EROFS',
    exitCode: 8,
    retry: 'never',
    hint: 'Write to the branch or layer itself, and open the session or mount for writing.',
  },
  too_large: {
    httpStatus: 413,
    errno: 'EFBIG',
    exitCode: 7,
    retry: 'never',
    hint: 'Send less at once; the limits are in docs/reference/http.md.',
  },
  too_slow: {
    httpStatus: 408,
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Send the same again, over a better line: what was done already is not done twice.',
  },
  file_system: {
    httpStatus: 409,
    errno: 'EIO',
    exitCode: 1,
    retry: 'never',
    hint: 'The file system said no; its errno tells why.',
  },
  internal: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 70,
    retry: 'never',
    hint: 'This is a bug in Cairn. The server log has more under the request id.',
  },
  malformed: {
    httpStatus: 400,
    errno: 'EINVAL',
    exitCode: 2,
    retry: 'never',
    hint: 'The bytes are not what the format says. Check the sender and its version.',
  },
  unsupported_version: {
    httpStatus: 400,
    errno: 'EPROTO',
    exitCode: 10,
    retry: 'never',
    hint: 'It was written by a newer Cairn. Update this one.',
  },
  corrupt: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Stored bytes do not match their hash. Restore the named object from a replica or backup.',
  },
  node_missing: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'A tree node is gone from the store. Restore the named node from a replica or backup.',
  },
  blob_missing: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Content is gone from the store. Restore the named blob from a replica or backup.',
  },
  storage_unavailable: {
    httpStatus: 503,
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'The store did not answer. Send the same again: what was done already is not done twice.',
  },
  storage_full: {
    httpStatus: 507,
    errno: 'ENOSPC',
    exitCode: 18,
    retry: 'after-refresh',
    hint: 'The disk of the store is full. Nothing was changed; free some space, then try again.',
  },
  quota_exceeded: {
    httpStatus: 507,
    errno: 'EDQUOT',
    exitCode: 18,
    retry: 'after-refresh',
    hint: 'Nothing was changed. Delete something, or have the quota raised: cairn ws quota, cairn fs layer quota.',
  },
  storage_misconfigured: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 19,
    retry: 'never',
    hint: 'The store cannot be used as it is set up. Mend what the message names, then start again.',
  },
  sequence_conflict: {
    httpStatus: 409,
    errno: 'EAGAIN',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'Another client wrote first. Read the new head and try again.',
  },
  stale_epoch: {
    httpStatus: 409,
    errno: 'ESTALE',
    exitCode: 14,
    retry: 'never',
    hint: 'The lease was taken away. Late writes belong in a rescue layer; open a new session.',
  },
  batch_mismatch: {
    httpStatus: 409,
    errno: 'EPROTO',
    exitCode: 15,
    retry: 'never',
    hint: 'This session already sent another batch under the same number. Open a new session.',
  },
  batch_passed_over: {
    httpStatus: 409,
    errno: 'EAGAIN',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'It was refused before, and will never be in the log under this number. Send it under a new one.',
  },
  chain_broken: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'The log does not follow from its own past. Keep the store as it is and restore a backup beside it.',
  },
  branch_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such branch or layer. List them to find the right name.',
  },
  branch_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'The id is taken. Choose another one.',
  },
  checkpoint_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'There is no such checkpoint on this branch. List its checkpoints to find the right one.',
  },
  checkpoint_outdated: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'The layer stands on a newer base than the checkpoint. Choose one made since the rebase or commit.',
  },
  layer_conflict: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 9,
    retry: 'after-refresh',
    hint: 'Both sides changed the same paths. Resolve each one, then commit again.',
  },
  layer_closed: {
    httpStatus: 409,
    errno: 'EROFS',
    exitCode: 16,
    retry: 'never',
    hint: 'The layer was committed or abandoned. Make another from it with: cairn fs layer fork. Or reopen it, if it was abandoned.',
  },
  nothing_to_undo: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'The newest entry of the log is not a rollback.',
  },
  reference_ambiguous: {
    httpStatus: 409,
    errno: 'EINVAL',
    exitCode: 17,
    retry: 'never',
    hint: 'Several layers are meant. Give the id of one of them.',
  },
  outside_layer: {
    httpStatus: 403,
    errno: 'EROFS',
    exitCode: 8,
    retry: 'never',
    hint: 'A layer takes writes at its own path only. Write there, or make a layer of a path that holds both.',
  },
  layer_in_use: {
    httpStatus: 409,
    errno: 'EBUSY',
    exitCode: 16,
    retry: 'never',
    hint: 'Layers were made from it. Delete them first, or all together with --cascade.',
  },
  conflict_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'Nothing is in conflict there. See what is with: cairn fs layer status.',
  },
  secret_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'See what may be read with: cairn vault ls.',
  },
  vault_denied: {
    httpStatus: 403,
    errno: 'EACCES',
    exitCode: 8,
    retry: 'never',
    hint: 'Ask the owner for a grant that allows it: cairn vault grant.',
  },
  grant_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'See what there is with: cairn vault grants.',
  },
  journal_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'Begin it with: cairn journal new --id ID, or see what there is with: cairn journal ls.',
  },
  journal_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'Append to the one that is there, or choose another id.',
  },
  journal_sealed: {
    httpStatus: 409,
    errno: 'EROFS',
    exitCode: 16,
    retry: 'never',
    hint: 'It has come to its end for good. Begin another one.',
  },
} as const
errorTable satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof errorTable

export interface ErrorDetails {
  /** Reads `cannot <verb> <thing>: <why>`; the table's hint is appended. */
  readonly message: string
  /** What it is about: a node's or blob's id, a branch, a path. */
  readonly subject?: string
  readonly cause?: unknown
}

export class CairnError extends Error {
  override readonly name = 'CairnError'
  readonly code: ErrorCode
  readonly subject: string | undefined

  constructor(code: ErrorCode, details: ErrorDetails) {
    super(`${details.message}. ${errorTable[code].hint}`, { cause: details.cause })
    this.code = code
    this.subject = details.subject
  }
}

/** By name, not by class: two copies of this package may meet in one process. */
export function isCairnError(error: unknown, code?: ErrorCode): error is CairnError {
  if (!(error instanceof Error) || error.name !== 'CairnError') return false
  return code === undefined || (error as CairnError).code === code
}
