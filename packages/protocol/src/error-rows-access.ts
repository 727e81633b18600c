import type { ErrorRow } from './error-row.ts'

/** Who may do what: keys, tokens, hosts, limits of requests. */
export const accessErrors = {
  unauthenticated: {
    httpStatus: 401,
    errno: 'EACCES',
    exitCode: 3,
    retry: 'never',
    hint: 'Save a valid key with: cairn ctx add, or set CAIRN_API_KEY.',
  },
  forbidden: {
    httpStatus: 403,
    errno: 'EACCES',
    exitCode: 8,
    retry: 'never',
    hint: 'Ask the owner for a token that allows it. See what this one allows with: cairn token show.',
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
    hint: 'Ask the owner for another one. A token that has expired, but was not revoked, can be refreshed: cairn token refresh.',
  },
  too_many_attempts: {
    httpStatus: 429,
    errno: 'EAGAIN',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Check the key, wait as many seconds as Retry-After says, then try again.',
  },
  too_many_requests: {
    httpStatus: 429,
    errno: 'EAGAIN',
    exitCode: 12,
    retry: 'same-request',
    hint: 'Wait until some of the other requests have ended, then send the same one again.',
  },
  token_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'List the tokens of the workspace with: cairn token list.',
  },
  key_missing: {
    httpStatus: 404,
    errno: 'ENOENT',
    exitCode: 4,
    retry: 'never',
    hint: 'List the owner keys with: cairn key ls.',
  },
  key_exists: {
    httpStatus: 409,
    errno: 'EEXIST',
    exitCode: 5,
    retry: 'never',
    hint: 'Choose another name: a name is never used for a second key, so that the log stays clear. For a new secret under the same name, run: cairn key rotate NAME.',
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
