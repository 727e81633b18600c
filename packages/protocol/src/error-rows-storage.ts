import type { ErrorRow } from './error-row.ts'

/** Stores, and the log in them. */
export const storageErrors = {
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
  chain_broken: {
    httpStatus: 500,
    errno: 'EIO',
    exitCode: 11,
    retry: 'never',
    hint: 'The log does not follow from its own past. Keep the store as it is and restore a backup beside it.',
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
} as const
storageErrors satisfies Record<string, ErrorRow>
