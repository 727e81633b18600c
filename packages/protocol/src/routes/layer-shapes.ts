import { fileKinds } from '../file-kinds.ts'
import { layerStates } from '../layer-words.ts'
import {
  boolean,
  integer,
  list,
  named,
  object,
  type Of,
  oneOf,
  optional,
  record,
  text,
} from '../schema/build.ts'
import { actor, path, Quota, root, seq, time, Used } from '../schema/common.ts'

/** A layer's id. */
export const layerId = text({ examples: ['layer_77ab'] })
const message = text({ examples: ['Rename the option'] })

export type LayerInfo = Of<typeof LayerInfo>
export const LayerInfo = named(
  'LayerInfo',
  object({
    id: layerId,
    /** Absent unless one was given. No two layers of a workspace have the same. */
    name: optional(text({ examples: ['attempt-1'] })),
    /** `main`, or the id of the layer it was forked from. Commits go there. */
    parent: text({ examples: ['main'] }),
    /** Writes are limited to it and what is below. */
    path: path(),
    tags: record(text(), { examples: [{ agent: 'a' }] }),
    /** `conflicted` is open, too: a state to work in. */
    state: oneOf(layerStates),
    message,
    /** The id of the key or token that made it. */
    createdBy: actor(),
    createdAt: time(),
    /** When it was committed or abandoned. */
    closedAt: optional(time()),
    /** When it goes for good, unless it is reopened. Absent while it is open, has layers on it or a labelled checkpoint. */
    expiresAt: optional(time()),
    /** What it began with: the parent's tree and place in the log. A rebase moves on from it. */
    origin: object({ root: root(), seq: seq() }),
  }),
)

const changeKinds = ['added', 'modified', 'deleted', 'renamed', 'mode', 'type'] as const

/** One path that differs between two points. */
export type LayerChange = Of<typeof LayerChange>
export const LayerChange = named(
  'LayerChange',
  object({
    kind: oneOf(changeKinds),
    path: path(),
    fileKind: oneOf(fileKinds),
    /** Where it was before it was renamed. */
    from: optional(text()),
    /** Renamed, and its content or attributes changed as well. */
    edited: optional(boolean()),
    /** Lines, where they were asked for and the file is text. */
    added: optional(integer({ examples: [12] })),
    removed: optional(integer({ examples: [3] })),
  }),
)

/** What one side has. Read it with `?layer=ID&side=SIDE` at its path. */
export type LayerConflictSide = Of<typeof LayerConflictSide>
export const LayerConflictSide = named(
  'LayerConflictSide',
  object({ path: path(), kind: oneOf(fileKinds) }),
)

/** A path that the layer and its parent changed since the base, in different ways. */
export type LayerConflict = Of<typeof LayerConflict>
export const LayerConflict = named(
  'LayerConflict',
  object({
    /** Another one as soon as the parent changes it again. */
    id: text({ examples: ['c_41d0'] }),
    kind: text({ examples: ['content'] }),
    path: path(),
    /** Absent where that side does not have it. */
    base: optional(LayerConflictSide),
    layer: optional(LayerConflictSide),
    target: optional(LayerConflictSide),
  }),
)

/** What another caller changed that this layer has changed too, at the path or below it. */
export type LayerOverlap = Of<typeof LayerOverlap>
export const LayerOverlap = named(
  'LayerOverlap',
  object({
    path: path(),
    /** Where it was before the other one renamed it. */
    from: optional(text()),
    /** `main` or a layer's id. Absent for a sibling that the token that asks cannot see. */
    with: optional(text({ examples: ['main'] })),
    name: optional(text()),
    /** What the other one did there. */
    kind: oneOf(changeKinds),
  }),
)

/** Paths of a layer that another caller changed too, since the event before. */
export type RadarEvent = Of<typeof RadarEvent>
export const RadarEvent = named(
  'RadarEvent',
  object({
    layer: layerId,
    overlaps: list(LayerOverlap),
    /** How many more there are than are listed. */
    more: integer(),
  }),
)

export type LayerStatus = Of<typeof LayerStatus>
export const LayerStatus = named(
  'LayerStatus',
  object({
    ...LayerInfo.fields,
    head: object({ root: root(), seq: seq() }),
    base: object({ root: root() }),
    /** Paths that the layer changed since its base. */
    changes: list(LayerChange),
    /** The parent has moved since the base. */
    behind: boolean(),
    /** What a commit would find now. */
    conflicts: list(LayerConflict),
    /** Those of these paths that the parent or a sibling changed too. */
    overlaps: list(LayerOverlap),
    /** How much it may add to its base. Absent where nothing is limited. */
    quota: optional(Quota),
    /** What it has added to its base; less than nothing where it deleted more. */
    used: Used,
    /** A checkpoint is made by itself after so long without a change. */
    autoCheckpointMs: optional(integer()),
    /** Content that it alone has, and what it shares with its base. */
    bytes: object({ private: integer(), shared: integer() }),
  }),
)

export type CheckpointInfo = Of<typeof CheckpointInfo>
export const CheckpointInfo = named(
  'CheckpointInfo',
  object({
    id: text({ examples: ['before-refactoring'] }),
    label: text({ examples: ['green'] }),
    /** The call of an agent's tool that it was made before. */
    toolCall: optional(text({ examples: ['call-7'] })),
    /** Made by itself; thinned out as it gets older. */
    automatic: optional(oneOf([true])),
    seq: seq(),
    root: root(),
    createdAt: time(),
  }),
)

/** A conflict that was decided. */
export type LayerDecision = Of<typeof LayerDecision>
export const LayerDecision = named(
  'LayerDecision',
  object({
    path: path(),
    kind: text({ examples: ['content'] }),
    /** What was taken: what the layer had, what its target had, or other content. */
    take: oneOf(['layer', 'target', 'content']),
  }),
)

/** A commit or rebase that met conflicts: what would have been merged, who asked for it, and when. */
export type RefusedMerge = Of<typeof RefusedMerge>
export const RefusedMerge = named(
  'RefusedMerge',
  object({ base: root(), layer: root(), target: root(), actor: actor(), time: time() }),
)

/** What a commit did. The same commit asked for again gives the same receipt. */
export type CommitReceipt = Of<typeof CommitReceipt>
export const CommitReceipt = named(
  'CommitReceipt',
  object({
    layer: layerId,
    target: text({ examples: ['main'] }),
    /** The target's sequence number of it; absent from a dry run. */
    seq: optional(seq()),
    before: root(),
    after: root(),
    paths: list(LayerChange),
    /** Conflicts that were decided before it, and how: those a commit went by. A commit with open ones is an error. */
    resolved: list(LayerDecision),
    actor: actor(),
    time: time(),
    message,
    dryRun: boolean(),
  }),
)

/** What a rollback, an undo or a rebase did. */
export type RootReceipt = Of<typeof RootReceipt>
export const RootReceipt = named(
  'RootReceipt',
  object({
    layer: layerId,
    seq: seq(),
    before: root(),
    after: root(),
    paths: list(LayerChange),
    actor: actor(),
    time: time(),
  }),
)

export type UndoReceipt = Of<typeof UndoReceipt>
export const UndoReceipt = named(
  'UndoReceipt',
  object({
    /** The number of the batch that took the changes back; absent for a dry run. */
    seq: optional(seq()),
    /** How many batches were taken back. */
    batches: integer({ examples: [3] }),
    before: root(),
    after: root(),
    paths: list(LayerChange),
    actor: actor(),
    time: time(),
    dryRun: optional(boolean()),
  }),
)

export type PickReceipt = Of<typeof PickReceipt>
export const PickReceipt = named(
  'PickReceipt',
  object({ commit: CommitReceipt, abandoned: list(layerId) }),
)

export type ResolveReceipt = Of<typeof ResolveReceipt>
export const ResolveReceipt = named(
  'ResolveReceipt',
  object({
    layer: layerId,
    resolved: list(LayerConflict),
    /** Those that are still open. */
    conflicts: list(LayerConflict),
  }),
)
