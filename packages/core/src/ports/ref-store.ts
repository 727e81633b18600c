import type { BranchId, CheckpointId, Hash } from '@cairn/protocol'
import type { FoldPoint, Resolution, Snapshot, Time } from './records.ts'

export interface BranchRecord {
  readonly id: BranchId
  /** Where it started from: the branch it is a layer of. Undefined for `main` and for forks. */
  readonly parent: BranchId | undefined
  /** The frozen tree it started from. A rebase moves it, and so does a commit that leaves it open. */
  readonly base: Snapshot
  /** The root it stood on before the first commit that left it open, since the last rebase; undefined without one. */
  readonly firstBase?: Hash | undefined
  /** The place in its own log since which it has this base; undefined where it was not recorded. */
  readonly baseSeq: number | undefined
  /** Where it may stand by now: each once its batch is in a log. `findBase` knows. */
  readonly next: readonly NextBase[]
  /** The newest fold. Everything after it is in the log alone. */
  readonly folded: FoldPoint
  /** How conflicts with the parent were decided so far. */
  readonly resolutions: readonly Resolution[]
  /** Grows with each update. */
  readonly version: number
}

/** What a layer stands on once a batch is in a log. */
export interface NextBase {
  readonly base: Snapshot
  readonly baseSeq: number
  /** In whose log: its own for a rebase, the target's for a commit. */
  readonly branch: BranchId
  /** The batch's place there. */
  readonly seq: number
  /** The root that the batch leads to. */
  readonly after: Hash
}

export interface Checkpoint {
  readonly id: CheckpointId
  readonly branch: BranchId
  readonly label: string
  readonly seq: number
  readonly snapshot: Snapshot
  readonly time: Time
}

/**
 * Branches and checkpoints: small mutable rows. What a branch's log says needs no row. Ids are compared as they
 * are, character by character. A record is the caller's, on the way in and on the way out.
 */
export interface RefStore {
  /** Rejects with `branch_exists`, and changes nothing. */
  createBranch(record: BranchRecord): Promise<void>
  /** Rejects with `branch_missing`. */
  getBranch(id: BranchId): Promise<BranchRecord>
  /**
   * False, and nothing changed, unless the stored version is one below the record's: of several that race, one
   * wins. Rejects with `branch_missing`.
   */
  updateBranch(record: BranchRecord): Promise<boolean>
  /** Putting a checkpoint again succeeds. */
  putCheckpoint(checkpoint: Checkpoint): Promise<void>
  /** Rejects with `checkpoint_missing`. An id means nothing on another branch. */
  getCheckpoint(branch: BranchId, id: CheckpointId): Promise<Checkpoint>
  /** Ascending by sequence number. Empty for an unknown branch. */
  listCheckpoints(branch: BranchId): Promise<readonly Checkpoint[]>
}
