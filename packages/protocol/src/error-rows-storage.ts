import type { ErrorRow } from './error-row.ts'

/** Stores, and the log in them. */
export const storageErrors = {
  corrupt: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Restore the named object from a replica or a backup.',
  },
  node_missing: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Restore the named tree node from a replica or a backup.',
  },
  blob_missing: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Restore the named blob from a replica or a backup.',
  },
  chain_broken: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'Keep the store as it is, and restore a backup beside it.',
  },
  storage_unavailable: {
    httpStatus: 503,
    errno: 'EIO',
    exitCode: 12,
    retry: 'same-request',
    hint: 'The store did not answer. Send the same request again: what was done already is not done twice.',
  },
  storage_full: {
    httpStatus: 507,
    errno: 'ENOSPC',
    exitCode: 18,
    retry: 'after-refresh',
    hint: 'Free some space on the disk of the store, then try again. Nothing was changed.',
  },
  quota_exceeded: {
    httpStatus: 507,
    errno: 'EDQUOT',
    exitCode: 18,
    retry: 'after-refresh',
    hint: 'Delete something, or raise the quota: cairn ws quota, cairn fs layer quota. Nothing was changed.',
  },
  storage_misconfigured: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 19,
    retry: 'never',
    hint: 'Correct what the message names, then start the server again.',
  },
  sequence_conflict: {
    httpStatus: 409,
    errno: 'EAGAIN',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'Another client wrote first. Read the new state, then try again.',
  },
  stale_epoch: {
    httpStatus: 409,
    errno: 'ESTALE',
    exitCode: 14,
    retry: 'never',
    hint: 'Another writer has the lease now. Open a new session; late writes go to a rescue layer.',
  },
  batch_mismatch: {
    httpStatus: 409,
    errno: 'EPROTO',
    exitCode: 15,
    retry: 'never',
    hint: 'The session has sent another batch under the same number. Open a new session.',
  },
  batch_passed_over: {
    httpStatus: 409,
    errno: 'EAGAIN',
    exitCode: 13,
    retry: 'after-refresh',
    hint: 'Send it again under a new number: the log will never hold it under this one.',
  },
} as const
storageErrors satisfies Record<string, ErrorRow>
