import type { BranchId, SessionId } from '@cairn/protocol'

export interface LogRow {
  readonly seq: number
  readonly session: SessionId
  readonly number: number
  /** The encoded batch. */
  readonly bytes: Uint8Array
}

/** The logs of all branches. */
export interface LogStore {
  /**
   * Appends rows with consecutive sequence numbers, all or none; resolves once they would survive a power
   * cut. Rejects with `sequence_conflict`, and changes nothing, when the first is not one above the branch's
   * last, which is 0 for a new branch. After any other rejection the rows may or may not be there.
   */
  append(branch: BranchId, rows: readonly LogRow[]): Promise<void>
  /** Up to `limit` rows after `seq`, ascending. Empty at the end and for an unknown branch. */
  read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]>
  /** The highest number a session has in the branch's log, or 0. */
  lastNumber(branch: BranchId, session: SessionId): Promise<number>
  find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined>
}
