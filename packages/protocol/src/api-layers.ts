/** The shapes of layers in the HTTP API's JSON, once for server, SDK and command line. */

import type { FileKind } from './api.ts'
import type { LayerState } from './layer-words.ts'
import type { Quota, Used } from './schema/common.ts'

export interface LayerInfo {
  readonly id: string
  /** Absent unless one was given. No two layers of a workspace have the same. */
  readonly name?: string
  /** `main`, or the id of the layer it was forked from. Commits go there. */
  readonly parent: string
  /** Writes are limited to it and what is below. */
  readonly path: string
  readonly tags: Readonly<Record<string, string>>
  readonly state: LayerState
  readonly message: string
  /** The id of the key or token that made it. */
  readonly createdBy: string
  readonly createdAt: string
  /** When it was committed or abandoned. */
  readonly closedAt?: string
  /** When it goes for good, unless it is reopened. Absent while it is open, has layers on it or a labelled checkpoint. */
  readonly expiresAt?: string
  /** What it began with: the parent's tree and place in the log. A rebase moves on from it. */
  readonly origin: { readonly root: string; readonly seq: number }
}

/** One path that differs between two points. */
export interface LayerChange {
  readonly kind: 'added' | 'modified' | 'deleted' | 'renamed' | 'mode' | 'type'
  readonly path: string
  readonly fileKind: FileKind
  /** Where it was before it was renamed. */
  readonly from?: string
  /** Renamed, and its content or attributes changed as well. */
  readonly edited?: boolean
  /** Lines, where they were asked for and the file is text. */
  readonly added?: number
  readonly removed?: number
}

/** What one side has. Read it with `?layer=ID&side=SIDE` at its path. */
export interface LayerConflictSide {
  readonly path: string
  readonly kind: FileKind
}

/** A path that the layer and its parent changed since the base, in different ways. */
export interface LayerConflict {
  /** Another one as soon as the parent changes it again. */
  readonly id: string
  readonly kind: string
  readonly path: string
  /** Absent where that side does not have it. */
  readonly base?: LayerConflictSide
  readonly layer?: LayerConflictSide
  readonly target?: LayerConflictSide
}

/** A path that this layer and another one both changed, at the path or below it. */
export interface LayerOverlap {
  readonly path: string
  /** Where it was before the other one renamed it. */
  readonly from?: string
  /** `main` or a layer's id. Absent of a sibling that does not exist for the token that asks. */
  readonly with?: string
  readonly name?: string
  /** What the other one did there. */
  readonly kind: LayerChange['kind']
}

/** Paths of a layer that another layer changed too, since the event before. */
export interface RadarEvent {
  readonly layer: string
  readonly overlaps: readonly LayerOverlap[]
  /** How many more there are than are listed. */
  readonly more: number
}

export interface LayerStatus extends LayerInfo {
  readonly head: { readonly root: string; readonly seq: number }
  readonly base: { readonly root: string }
  /** Paths that the layer changed since its base. */
  readonly changes: readonly LayerChange[]
  /** The parent has moved since the base. */
  readonly behind: boolean
  /** What a commit would find now. */
  readonly conflicts: readonly LayerConflict[]
  /** Those of these paths that the parent or a sibling changed too. */
  readonly overlaps: readonly LayerOverlap[]
  /** How much it may add to its base. Absent where nothing is limited. */
  readonly quota?: Quota
  /** What it has added to its base; less than nothing where it took away. */
  readonly used: Used
  /** A checkpoint is made by itself after so long without a change. */
  readonly autoCheckpointMs?: number
  /** Content that it alone has, and what it shares with its base. */
  readonly bytes: { readonly private: number; readonly shared: number }
}

export interface CheckpointInfo {
  readonly id: string
  readonly label: string
  /** The call of an agent's tool that it was made before. */
  readonly toolCall?: string
  /** Made by itself; thinned out as it gets older. */
  readonly automatic?: true
  readonly seq: number
  readonly root: string
  readonly createdAt: string
}

/** A conflict that was decided. */
export interface LayerDecision {
  readonly path: string
  readonly kind: string
  /** What was taken: what the layer had, what its target had, or other content. */
  readonly take: 'layer' | 'target' | 'content'
}

/** A commit or rebase that met conflicts: what would have been merged, who asked for it, and when. */
export interface RefusedMerge {
  /** Roots. */
  readonly base: string
  readonly layer: string
  readonly target: string
  readonly actor: string
  readonly time: string
}

/** What a commit did. The same commit asked for again gives the same receipt. */
export interface CommitReceipt {
  readonly layer: string
  readonly target: string
  /** The target's sequence number of it; absent from a dry run. */
  readonly seq?: number
  readonly before: string
  readonly after: string
  readonly paths: readonly LayerChange[]
  /** Conflicts that were decided before it, and how: those a commit went by. A commit with open ones is an error. */
  readonly resolved: readonly LayerDecision[]
  readonly actor: string
  readonly time: string
  readonly message: string
  readonly dryRun: boolean
}

/** What a rollback, an undo or a rebase did. */
export interface RootReceipt {
  readonly layer: string
  readonly seq: number
  readonly before: string
  readonly after: string
  readonly paths: readonly LayerChange[]
  readonly actor: string
  readonly time: string
}

export interface PickReceipt {
  readonly commit: CommitReceipt
  readonly abandoned: readonly string[]
}

export interface ResolveReceipt {
  readonly layer: string
  readonly resolved: readonly LayerConflict[]
  /** Those that are still open. */
  readonly conflicts: readonly LayerConflict[]
}
