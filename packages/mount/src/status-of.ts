import type { DirectoryStates, MountStatus } from './mount-status.ts'
import type { Notes } from './notes.ts'
import type { Outbox } from './outbox/outbox.ts'
import type { SessionClient } from './session/client.ts'
import type { Refusal } from './session/refusal.ts'

interface StatusParts {
  readonly session: Pick<SessionClient, 'isConnected'>
  readonly standing: string
  readonly directories: DirectoryStates
  readonly outbox: Pick<Outbox, 'pendingOps' | 'pendingBytes' | 'pendingMs' | 'deferrals'>
  readonly cacheBytes: number
  readonly knownInodes: number
  readonly seq: number
  readonly refusal: Refusal
  readonly notes: Notes
}

/** What a mount says of itself. */
export function statusOf(parts: StatusParts): MountStatus {
  const { session, standing, outbox, refusal, notes } = parts
  return {
    connected: session.isConnected,
    standing: notes.isOver && standing === 'shared' ? 'over' : standing,
    ...(standing === 'lease' && { directories: parts.directories }),
    pendingOps: outbox.pendingOps,
    pendingBytes: outbox.pendingBytes,
    pendingMs: outbox.pendingMs,
    onlyHere: outbox.deferrals.status,
    cacheBytes: parts.cacheBytes,
    knownInodes: parts.knownInodes,
    seq: parts.seq,
    ...(refusal.why ? { refused: refusal.why.message } : {}),
    errors: notes.errors,
    log: notes.log,
    rescues: notes.rescues,
  }
}
