import type { BranchId, Hash, SessionId } from '@cairn/protocol'

export interface LogRow {
  readonly seq: number
  readonly session: SessionId
  readonly number: number
  /** The encoded batch, as it was appended or as it was trimmed. */
  readonly bytes: Uint8Array
  /**
   * The hash of the batch, also after trimming. Without it, damage to the newest row would go
   * unnoticed, because no other row follows it.
   */
  readonly hash: Hash
  /** What the caller was answered, to be answered again. It is not part of the batch, nor of its hash. */
  readonly answer?: string | undefined
}

/** What a batch uses up of an account, such as the budget of a token. Neither is negative. */
export interface Charge {
  readonly account: string
  readonly bytes: number
  readonly files: number
}

/** What one read gives at most, unless a single row is more. */
export const logReadBytesMax: number = 16 << 20

/**
 * The logs of all branches. Ids are compared as they are, character by character. Bytes are the caller's, on the
 * way in and on the way out: changing them afterwards changes nothing in the store.
 */
export interface LogStore {
  /**
   * Appends rows, all or none; resolves once they would survive a power cut. Rejects with `sequence_conflict`,
   * and changes nothing, unless their sequence numbers go on from the branch's last, which is 0 for a new
   * branch, without a gap: of several that race for a number, one wins. After any other rejection the rows may
   * or may not be there. What they are charged for counts if they are there, and only then.
   */
  append(branch: BranchId, rows: readonly LogRow[], charges?: readonly Charge[]): Promise<void>
  /**
   * Up to `limit` rows after `seq`, ascending, and fewer where more would be over `logReadBytesMax`; one at least.
   * Empty only at the end and for an unknown branch.
   */
  read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]>
  /** The highest number a session has in the branch's log, or 0. */
  lastNumber(branch: BranchId, session: SessionId): Promise<number>
  find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined>
  /** Up to which row a log was trimmed; 0 for one that never was. */
  trimmedTo(branch: BranchId): Promise<number>
  /**
   * Gives rows the bytes that they are left with, and notes that all up to `seq` have been looked at; never back to an
   * earlier one. All or nothing. Rows that are not there, or have another hash, stay as they are.
   */
  trim(branch: BranchId, seq: number, rows: readonly LogRow[]): Promise<void>
}
