import type { BranchId } from '@cairn/protocol'
import type { LeaseRecord } from './lease.ts'

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
  /** Those that have notes, in byte order, after that one. */
  listHolders(after: string, limit: number): Promise<readonly string[]>
  /** All of a holder that is gone for good. */
  removeNotes(holder: string): Promise<void>
  /** Blobs that were noted before then: what nothing points at is collected by then as well. */
  removeBlobNotes(beforeMs: number): Promise<void>
}
