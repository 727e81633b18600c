import type { ActorId, BranchId, SessionId } from '@cairn/protocol'
import type { Batch } from './batch.ts'

interface Origin {
  readonly session: string
  readonly toolCall?: string
}

/*
 * A log takes each number of a session once. So the id of a session decides what counts as a repetition: a client that
 * connects gets an id of its own, and an operation that must happen once has an id that follows from what it is.
 * `unique` is a fresh random text.
 */

const turnPrefix = 'turn-'

/** A mount of an owner. */
export function newSession(unique: string): SessionId {
  return `s_${unique}` as SessionId
}

/** Whether it is of a client that connects, and not of a request or of the server itself. */
export function isConnected(session: SessionId): boolean {
  return session.startsWith('s_')
}

/** A mount of a token. The id begins with the token's identity, so that no other token can resume it. */
export function newTokenSession(identity: string, unique: string): SessionId {
  return `s_${identity}.${unique}` as SessionId
}

/** The identity of the token that a session belongs to; undefined for that of an owner. */
export function identityOf(session: string): string | undefined {
  return /^s_([^.]*)\./.exec(session)?.[1]
}

/** Whether it is a session of the token, or of a token that was narrowed from it. */
export function isSessionOf(identity: string, session: string): session is SessionId {
  return session.startsWith(`s_${identity}.`) || session.startsWith(`s_${identity}~`)
}

/** Requests without a key: all those of one process. */
export function processSession(unique: string): SessionId {
  return `http-${unique}` as SessionId
}

/** A change of files under an idempotency key: its only batch. */
export function requestSession(actor: ActorId, idempotencyKey: string): SessionId {
  return `http:${actor}:${idempotencyKey}` as SessionId
}

/** An operation on layers under a key: its only batch in that log. */
export function operationSession(key: string): SessionId {
  return `layer:${key}` as SessionId
}

/** What is done to a layer as a whole, such as `commit` or `rebase`. Its numbers follow from the layer's log. */
export function layerSession(what: string, layer: BranchId): SessionId {
  return `${what}:${layer}` as SessionId
}

/** Takes a place in a log with an empty batch. Its numbers are the places. */
export function placeSession(branch: BranchId): SessionId {
  return `place:${branch}` as SessionId
}

/** Puts a new branch on the work of a layer that is closed. */
export function forkSession(branch: BranchId): SessionId {
  return `fork:${branch}` as SessionId
}

/** Deletes files without a name that no session has open. */
export function reaperSession(unique: string): SessionId {
  return `reaper-${unique}` as SessionId
}

/** A short write of the server while a mount holds the lease. */
export function turnSession(unique: string): SessionId {
  return `${turnPrefix}${unique}` as SessionId
}

export function isTurnSession(session: SessionId): boolean {
  return session.startsWith(turnPrefix)
}

/** Begins an epoch. The log remembers by it which session got the lease. */
export function epochSession(unique: string, holder: SessionId | undefined): SessionId {
  return `epoch-${unique}:${holder ?? ''}` as SessionId
}

/** Which session got the lease; undefined for an epoch that was begun before ids named it. */
export function holderOfEpoch(session: SessionId): string | undefined {
  return /^epoch-[^:]*:(.*)$/s.exec(session)?.[1]
}

/** Notes in the log that a session acknowledges in an epoch which began with another one's lease. Its only batch. */
export function coHolderSession(epoch: number, session: SessionId): SessionId {
  return `beside-${epoch}:${session}` as SessionId
}

/** Batches from before they had a field for it hold the tool call in the session, behind a blank. */
export function originOf({ session, toolCall }: Pick<Batch, 'session' | 'toolCall'>): Origin {
  if (toolCall !== undefined) return { session, toolCall }
  const blank = session.indexOf(' ')
  if (blank < 0) return { session }
  return { session: session.slice(0, blank), toolCall: session.slice(blank + 1) }
}
