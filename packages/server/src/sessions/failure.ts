import { CairnError, type FailureFields, isCairnError, isFsError } from '@cairn/protocol'

/** The fields of an error, as a session sends them. */
export function failureOf(error: unknown): FailureFields {
  const { what = '', reason = '', hint = '', subject = '' } = isCairnError(error) ? error : {}
  const code = isFsError(error) || isCairnError(error) ? error.code : 'internal'
  return { code, what, reason, hint, subject }
}

/** For a second hello. */
export function begunAlready(): CairnError {
  return new CairnError('malformed', {
    what: 'begin the session',
    reason: 'it has begun already',
  })
}
