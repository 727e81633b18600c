import type { BranchId, SessionId } from '@cairn/protocol'

/** A session that may write to a branch, for as long as it keeps saying so. */
export interface LeaseWriter {
  readonly session: SessionId
  readonly expiresAtMs: number
  /**
   * The server it is connected to, for a session that gives single directories back (sharing.ts). Absent for one that
   * gives everything back or nothing, and for a write of a moment.
   */
  readonly sharesAt?: string | undefined
  /** Where other servers reach that server; absent where it takes no relayed sessions. */
  readonly address?: string | undefined
}

/**
 * Who may write to a branch, and how. With a holder, that session acknowledges writes to its own programs before
 * the server has seen them. The others wait; where all are together (`areTogether`), the server answers their writes,
 * and the holder gives back what these concern. Those that work become holders, too: which of them acknowledges where
 * is decided directory by directory (sharing.ts). Without a holder the server answers each write.
 */
export interface LeaseRecord {
  readonly branch: BranchId
  readonly holder: SessionId | undefined
  /** Those that acknowledge beside the holder, in the same epoch. INVARIANT: none without a holder. */
  readonly coHolders: readonly SessionId[]
  /** All holders have been asked to hand in what they acknowledged. It stays so until each has: none acknowledges more. */
  readonly recalled: boolean
  /** Until when it has to; absent while it has not been asked. */
  readonly deadline?: LeaseDeadline | undefined
  readonly writers: readonly LeaseWriter[]
  /**
   * The branch's epoch in which this is so. Each holder has an epoch of its own, begun before this
   * was recorded: the log itself refuses batches of an epoch that has ended.
   */
  readonly epoch: number
  /** Grows with each update. */
  readonly version: number
}

/** How long a holder may take to hand its lease back. */
export interface LeaseDeadline {
  /** Moves with each receipt that the holder gets: it may have much to send. */
  readonly ms: number
  /** Does not move. */
  readonly lastMs: number
}

/** Something to be known about a session or a token when it comes back, to whichever server. */
export interface HolderNote {
  /**
   * `begun`: a session, by a server that keeps notes. `inodes`: numbers that were given, as first+count. `replaced`: a
   * number whose file replaced another client's file. `blob`: content that a token stored.
   */
  readonly kind: 'begun' | 'inodes' | 'replaced' | 'blob'
  readonly value: string
}

/** Leases, and what their holders were given, live where every server sees them. */
export interface LeaseStore {
  get(branch: BranchId): Promise<LeaseRecord | undefined>
  /** False, and nothing changed, unless the stored version is one below the record's (0 when there is none). */
  put(record: LeaseRecord): Promise<boolean>
  /** The same one again changes nothing. */
  addNotes(holder: string, notes: readonly HolderNote[], nowMs: number): Promise<void>
  /** Also those of holders whose names go on with a `~`: tokens that were narrowed from it. */
  listNotes(holder: string): Promise<readonly HolderNote[]>
  /** Which of these values one of the holders has noted. A holder may have a million notes. */
  findNotes(
    holders: readonly string[],
    kind: HolderNote['kind'],
    values: readonly string[],
  ): Promise<readonly string[]>
  /** Those that have notes, in byte order, after that one. */
  listHolders(after: string, limit: number): Promise<readonly string[]>
  /** All of a holder that is gone for good. */
  removeNotes(holder: string): Promise<void>
  /** Blobs that were noted before then: what nothing points at is collected by then as well. */
  removeBlobNotes(beforeMs: number): Promise<void>
}
