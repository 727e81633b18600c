import type { Hash } from '@cairn/protocol'

export interface Time {
  readonly sec: number
  /** 0 to 999,999,999, also before 1970. */
  readonly nsec: number
}

/** A frozen state of a branch. */
export interface Snapshot {
  readonly root: Hash
  /**
   * A tree of the inodes that have no name but were in use. It is beside the root and not in it:
   * the same files have the same root, whatever clients have open.
   */
  readonly orphans: Hash
}

export const branchStates = ['open', 'conflicted', 'committed', 'abandoned'] as const
/** `conflicted` is open, too: a state to work in. */
export type BranchState = (typeof branchStates)[number]

/** Over: it takes no more writes. */
export function isClosedState(state: BranchState): state is 'committed' | 'abandoned' {
  return state === 'committed' || state === 'abandoned'
}

/** A place in a branch's log. */
export interface Position {
  readonly seq: number
  /** Hash of the batch there. */
  readonly hash: Hash
  readonly epoch: number
  readonly state: BranchState
}

export interface FoldPoint extends Position {
  readonly snapshot: Snapshot
}

/**
 * Keep what the layer has, keep what the target has, or give the file these bytes. Bytes decide about content, and
 * about whether a file stays: not about modes, names or cycles. What an answer does not decide stays a conflict.
 */
export type Choice =
  | { readonly type: 'layer' }
  | { readonly type: 'target' }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }

/** How one conflict was decided. */
export interface Resolution {
  /** The conflict's `id`. */
  readonly conflict: string
  readonly choice: Choice
}
