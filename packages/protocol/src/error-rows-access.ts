import type { ErrorRow } from './error-row.ts'

/** Who may do what: keys, tokens, hosts, limits of requests. */
export const accessErrors = {
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
    exitCode: 8,
    retry: 'never',
    hint: 'The token does not allow it. Ask its owner for one that does; see what this one may with: cairn token show.',
  },
  host_refused: {
    httpStatus: 403,
    errno: 'EACCES',
    exitCode: 8,
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
} as const
accessErrors satisfies Record<string, ErrorRow>
