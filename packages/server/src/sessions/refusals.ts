import { CairnError } from '@cairn/protocol'

/** For a second hello. */
export function begunAlready(): CairnError {
  return new CairnError('malformed', {
    what: 'begin the session',
    reason: 'it has begun already',
  })
}

/** For a write in a session that was opened for reading. */
export function readsOnly(what: string): CairnError {
  return new CairnError('read_only', { what, reason: 'this session only reads' })
}
