export { joinNames, pathsOf, placeOf } from './access/paths.ts'
export {
  inoReplacing,
  type IsOwn,
  requireAllowed,
  requireOnInode,
  requireOperation,
  requireWritable,
} from './access/require.ts'
export { scopedView } from './access/scoped-view.ts'
export { assemble, fetchBlobs, joinExtents } from './content/assemble.ts'
export { blockBytes, blockLength } from './content/block.ts'
export {
  blobBytesMax,
  blobHeadBytesMax,
  Blobs,
  type DraftBlobs,
  type SealedBlob,
} from './content/blobs.ts'
export { InFlight } from './content/in-flight.ts'
export { allocatedBytes, type Content, type FoldedBlock } from './content/content.ts'
export { type Extent, Extents } from './content/extents.ts'
export { type FoldedLength, foldedLength } from './content/folded-length.ts'
export { withoutTrailingZeros } from './content/fold-content.ts'
export { readFile } from './filesystem/read-file.ts'
export { seekData, seekHole } from './content/seek.ts'
export { type Credentials, may, superuser } from './filesystem/access.ts'
export { applyOp } from './filesystem/apply.ts'
export * as attributeCalls from './filesystem/calls/attributes.ts'
export type { Call } from './filesystem/calls/context.ts'
export * as dataCalls from './filesystem/calls/data.ts'
export * as nameCalls from './filesystem/calls/names.ts'
export * as pathCalls from './filesystem/calls/paths.ts'
export { Changes } from './filesystem/changes.ts'
export { deepens, levelsMax } from './filesystem/depth.ts'
export { directoriesOf, homesOf } from './filesystem/directories-of.ts'
export { DirectorySet } from './filesystem/directory-set.ts'
export { EntryPages } from './filesystem/entry-pages.ts'
export { largestFileBytes } from './filesystem/file-size.ts'
export {
  compareTimes,
  type Dentry,
  type Inode,
  type Kind,
  type Link,
  modeBits,
} from './filesystem/inode.ts'
export {
  type BranchState,
  branchStates,
  type Choice,
  type FoldPoint,
  isClosedState,
  type Resolution,
  type Snapshot,
  type Time,
} from './ports/records.ts'
export { applyNewOp } from './filesystem/new-op.ts'
export {
  type AppendOp,
  type CopyOp,
  type CreateOp,
  type Data,
  type FallocateMode,
  fallocateModes,
  type FallocateOp,
  type LinkOp,
  type Op,
  type PrivilegeDrop,
  privilegeDrops,
  type RenameMode,
  renameModes,
  type RenameOp,
  type SetattrOp,
  type SetxattrOp,
  type WriteOp,
  type XattrMode,
  xattrModes,
} from './filesystem/op.ts'
export { pathOf, type Resolved, resolveExisting, resolvePath } from './filesystem/resolve.ts'
export {
  contentExtents,
  copyLength,
  dataLength,
  withoutPrivileges,
} from './filesystem/rules/data.ts'
export { type Totals, totalsOf } from './filesystem/totals.ts'
export { TreeView } from './filesystem/tree-view.ts'
export {
  addUsage,
  allocatedBytesMax,
  growthOf,
  type Limits,
  noUsage,
  type Usage,
  usageOf,
} from './filesystem/usage.ts'
export { decodeInode, encodeInode } from './filesystem/values.ts'
export type { NamedDentry, View } from './filesystem/view.ts'
export {
  type Batch,
  type BatchBody,
  type BatchOutline,
  batchBytesMax,
  decodeBatch,
  decodeSentBatch,
  decodeBody,
  decodeBodyInSteps,
  decodeInSteps,
  decodeOutline,
  encodeBatch,
  encodeBody,
  encodedBytes,
  genesis,
  type RootChange,
  type SentBatch,
  type SubmittedBody,
  writeOneOp,
  writeOps,
} from './history/batch.ts'
export { Branch } from './history/branch.ts'
export {
  type Author,
  changeTooLarge,
  isAnswer,
  type Receipt,
  type Submission,
} from './history/draft.ts'
export { Reservations, RoomPromised } from './history/reservations.ts'
export * as sessionIds from './history/session-ids.ts'
export { storeNewTree } from './history/new-tree.ts'
export { encodeReference } from './history/reference.ts'
export {
  blobsOfOps,
  type LogMemory,
  newLogMemory,
  Reach,
  type RootReference,
  referencesOf,
  TreeReach,
} from './history/reach.ts'
export { hashOfRow, hashRowInSteps } from './history/reference.ts'
export { findLostBatches } from './history/check-replay.ts'
export { ScratchStore } from './history/scratch-store.ts'
export { trimLog } from './history/trim-log.ts'
export { findBase, readLayer } from './layers/base.ts'
export { findChangedKeys } from './layers/changed-keys.ts'
export {
  commitLayer,
  type CommitOutcome,
  type LayerOptions,
  rebaseLayer,
  resolveConflict,
} from './layers/commit.ts'
export {
  type Conflict,
  type ConflictKind,
  conflictKinds,
  type ConflictSide,
} from './layers/conflict.ts'
export { LayerConflictError } from './layers/conflict-error.ts'
export { createBranch, forkBranch } from './layers/fork.ts'
export { abandonLayer, findClosedState, reopenLayer } from './layers/layer-state.ts'
export { merge, type MergeTreesOptions, type MergeResult } from './layers/merge.ts'
export { ownBytesOf } from './layers/own-bytes.ts'
export { diffPaths, type PathChange } from './layers/path-changes.ts'
export { changedInos } from './layers/changed-inos.ts'
export { isBelow, namesOf, requireAllInside, requireInside } from './layers/path-limit.ts'
export { makeCheckpoint, requireSameBase, rollback, undoRollback } from './layers/rollback.ts'
export { planUndo, undoBatches, undoOn, type UndoWish } from './layers/undo-batches.ts'
export {
  applyLock,
  type FileLock,
  type FileLocks,
  findBlocker,
  type LockChange,
  type LockKind,
  lockKinds,
  type LockMode,
  lockModes,
  ownLocks,
} from './locks/file-locks.ts'
export type { BlobDraft, BlobStore } from './ports/blob-store.ts'
export type { ContentWorker } from './ports/content-worker.ts'
export { type Charge, logReadBytesMax, type LogRow, type LogStore } from './ports/log-store.ts'
export type { NodeStore } from './ports/node-store.ts'
export type { Pacer } from './ports/pacer.ts'
export type { BranchRecord, Checkpoint, NextBase, RefStore } from './ports/ref-store.ts'
export type { Stores } from './history/stores.ts'
export { diffLines } from './text/line-diff.ts'
export {
  findTextProblem,
  lineBytes,
  splitLines,
  type TextLines,
  textMergeBytesMax,
} from './text/lines.ts'
export { diffStat, formatPatch } from './text/patch.ts'
export { quotePath } from './text/quote-path.ts'
export { mergeText } from './text/text-merge.ts'
export { Misses, NodeMiss } from './tree/node-miss.ts'
export { Nodes } from './tree/nodes.ts'
export { inSteps, runAtOnce, type Steps, takeSteps } from './tree/steps.ts'
export { mapPaced } from './tree/map-paced.ts'
export { sortInSteps } from './tree/sort-in-steps.ts'
