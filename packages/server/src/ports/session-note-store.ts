import type { BranchId, Ino, SessionId } from '@cairn/protocol'

/** A read-write session, as the server it is connected to notes it for the other servers. */
export interface SessionNote {
  readonly session: SessionId
  /** Which server it is connected to. */
  readonly server: string
  /** When it connected. */
  readonly sinceMs: number
  /** Up to which place in the log the session has applied what others wrote, as far as it was asked. */
  readonly seen: number
  /** Up to which place another server waits for it. */
  readonly asked: number
}

/** Files without a name that a session has open. */
export interface SessionHold {
  readonly session: SessionId
  readonly inos: readonly Ino[]
  /** The session has to say so again before then. */
  readonly untilMs: number
}

/** Where servers tell each other how far their read-write sessions have come. */
export interface SessionNoteStore {
  list(branch: BranchId): Promise<readonly SessionNote[]>
  /** The session is connected to that server now, and to no other. It counts as behind until `tell` says otherwise. */
  put(branch: BranchId, note: Omit<SessionNote, 'seen' | 'asked'>): Promise<void>
  /** Unless it has connected to another server since. */
  remove(branch: BranchId, session: SessionId, server: string): Promise<void>
  /** Asks until the session has applied `seq`. Never lowers what was asked for. */
  ask(branch: BranchId, session: SessionId, seq: number): Promise<void>
  /** Never lowers what was told. */
  tell(branch: BranchId, session: SessionId, seq: number): Promise<void>
  /** Replaces what the session held before. Without inodes it holds nothing. */
  hold(branch: BranchId, hold: SessionHold): Promise<void>
  listHolds(branch: BranchId): Promise<readonly SessionHold[]>
}
