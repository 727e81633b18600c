import { CairnError, type SessionId } from '@cairn/protocol'

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

/** For a write in the epoch of another session's lease. */
export function heldByAnother(session: SessionId, epoch: number): CairnError {
  return new CairnError('stale_epoch', {
    what: `take a batch of session ${session}`,
    reason: `another session holds the lease of epoch ${epoch}`,
    subject: session,
  })
}
