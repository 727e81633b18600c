import type { FileLocks } from '@cairn/core'
import type { BranchId, Ino } from '@cairn/protocol'

/** The locks of one file, as they were written down once. */
export interface LockRecord {
  readonly branch: BranchId
  readonly ino: Ino
  readonly locks: FileLocks
  /** Chance. Not a count: a record that went and came again would count from the start, and look like the old one. */
  readonly stamp: number
}

/** Locks live where every server sees them. */
export interface LockStore {
  get(branch: BranchId, ino: Ino): Promise<LockRecord | undefined>
  /** All files of a branch that have locks. */
  list(branch: BranchId): Promise<readonly LockRecord[]>
  /**
   * Puts `after` in the place of `before`, which is undefined where there is none. One without locks is taken away.
   * False, and nothing changed, when the record is not the one of that stamp.
   */
  replace(before: LockRecord | undefined, after: LockRecord): Promise<boolean>
}
