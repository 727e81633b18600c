import { CairnError } from '@cairn/protocol'

/** For a second hello, or a piece within a piece. */
export function outOfPlace(type: string): CairnError {
  return new CairnError('malformed', {
    what: `take the message '${type}'`,
    reason: 'the session has begun already',
  })
}

/** For a write in a session that was opened for reading. */
export function readsOnly(what: string): CairnError {
  return new CairnError('read_only', { what, reason: 'this session only reads' })
}
