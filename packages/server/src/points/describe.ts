import {
  type Checkpoint,
  type Conflict,
  type ConflictSide,
  namesOf,
  type PathChange,
} from '@cairn/core'
import {
  type CheckpointInfo,
  formatHash,
  formatPath,
  type LayerChange,
  type LayerConflict,
  type LayerConflictSide,
  type LayerInfo,
} from '@cairn/protocol'
import { isoTime } from '../ports/clock.ts'
import { isAutomatic } from '../workspaces/auto-checkpoints.ts'
import { type CheckpointLabel, type LayerRecord, shownName } from '../ports/layer-store.ts'

/** Layers and what happens to them, as JSON tells it. */

export function describeLayer(record: LayerRecord): LayerInfo {
  const { id, name, parent, tags, state, message, createdBy, createdAt, closedAt } = record
  return {
    id,
    ...(name === undefined ? {} : { name: shownName(name) }),
    parent,
    path: formatPath(namesOf(record.path)),
    tags,
    state,
    message,
    createdBy,
    // To the nanosecond in the store, where it makes the order of listings.
    createdAt: createdAt.replace(/(\.\d{3})\d+/, '$1'),
    ...(closedAt === undefined ? {} : { closedAt }),
    origin: { root: formatHash(record.originRoot), seq: record.originSeq },
  }
}

export function describeChange({ kind, path, fileKind, from, edited }: PathChange): LayerChange {
  return {
    kind,
    path: formatPath(path),
    fileKind,
    ...(from ? { from: formatPath(from) } : {}),
    ...(edited ? { edited } : {}),
  }
}

export function describeConflict({ id, kind, path, ...sides }: Conflict): LayerConflict {
  return {
    id,
    kind,
    path: formatPath(path),
    ...(sides.base ? { base: describeSide(sides.base) } : {}),
    ...(sides.layer ? { layer: describeSide(sides.layer) } : {}),
    ...(sides.target ? { target: describeSide(sides.target) } : {}),
  }
}

function describeSide({ path, kind }: ConflictSide): LayerConflictSide {
  return { path: formatPath(path), kind }
}

export function describeCheckpoint(
  { id, label, seq, snapshot, time }: Checkpoint,
  noted: CheckpointLabel | undefined,
): CheckpointInfo {
  return {
    id,
    label,
    ...(noted?.toolCall === undefined ? {} : { toolCall: noted.toolCall }),
    ...(isAutomatic(id) ? { automatic: true } : {}),
    seq,
    root: formatHash(snapshot.root),
    createdAt: isoTime(time),
  }
}
