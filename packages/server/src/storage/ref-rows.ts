import {
  type BranchRecord,
  type BranchState,
  branchStates,
  type Checkpoint,
  type Resolution,
} from '@cairn/core'
import { type BranchId, type CheckpointId, Reader, Writer } from '@cairn/protocol'
import {
  bytesOf,
  hashColumn,
  hashOf,
  keyBytes,
  numberOf,
  optionalTextOf,
  textBytes,
  textOf,
} from './columns.ts'
import type { Row, SqlValue } from './database.ts'

/** Branches and checkpoints as rows. */

export const branchColumns = [
  'id',
  'parent',
  'base_root',
  'base_orphans',
  'folded_root',
  'folded_orphans',
  'folded_seq',
  'folded_hash',
  'folded_epoch',
  'folded_state',
  'resolutions',
  'version',
] as const

export function branchValues({ id, parent, base, folded, ...record }: BranchRecord): SqlValue[] {
  return [
    keyBytes(id),
    parent === undefined ? null : keyBytes(parent),
    hashColumn(base.root),
    hashColumn(base.orphans),
    hashColumn(folded.snapshot.root),
    hashColumn(folded.snapshot.orphans),
    folded.seq,
    hashColumn(folded.hash),
    folded.epoch,
    keyBytes(folded.state),
    encodeResolutions(record.resolutions),
    record.version,
  ]
}

export function branchRecord(row: Row): BranchRecord {
  return {
    id: textOf<BranchId>(row, 'id'),
    parent: optionalTextOf<BranchId>(row, 'parent'),
    base: { root: hashOf(row, 'base_root'), orphans: hashOf(row, 'base_orphans') },
    folded: {
      seq: numberOf(row, 'folded_seq'),
      hash: hashOf(row, 'folded_hash'),
      epoch: numberOf(row, 'folded_epoch'),
      state: branchState(textOf(row, 'folded_state')),
      snapshot: { root: hashOf(row, 'folded_root'), orphans: hashOf(row, 'folded_orphans') },
    },
    resolutions: decodeResolutions(bytesOf(row, 'resolutions')),
    version: numberOf(row, 'version'),
  }
}

function branchState(text: string): BranchState {
  const state = branchStates.find((each) => each === text)
  if (state) return state
  throw new Error(`a branch has the state '${text}'`)
}

const choiceTypes = ['layer', 'target', 'bytes'] as const

function encodeResolutions(resolutions: readonly Resolution[]): Uint8Array {
  const writer = new Writer().varint(resolutions.length)
  for (const { conflict, choice } of resolutions) {
    writer.text(conflict).choice(choiceTypes, choice.type)
    if (choice.type === 'bytes') writer.bytes(choice.bytes)
  }
  return writer.finish()
}

function decodeResolutions(bytes: Uint8Array): Resolution[] {
  const reader = new Reader(bytes, 'resolutions')
  const resolutions: Resolution[] = []
  for (let left = reader.count(2); left > 0; left--) {
    const conflict = reader.text()
    const type = reader.choice(choiceTypes, 'choice')
    const choice = type === 'bytes' ? { type, bytes: reader.bytes() } : { type }
    resolutions.push({ conflict, choice })
  }
  reader.end()
  return resolutions
}

export const checkpointColumns: readonly string[] = [
  'branch',
  'id',
  'label',
  'seq',
  'root',
  'orphans',
  'time_sec',
  'time_nsec',
]

export function checkpointValues(checkpoint: Checkpoint): SqlValue[] {
  const { branch, id, label, seq, snapshot, time } = checkpoint
  return [
    keyBytes(branch),
    keyBytes(id),
    textBytes(label),
    seq,
    hashColumn(snapshot.root),
    hashColumn(snapshot.orphans),
    time.sec,
    time.nsec,
  ]
}

export function checkpointOf(row: Row): Checkpoint {
  return {
    branch: textOf<BranchId>(row, 'branch'),
    id: textOf<CheckpointId>(row, 'id'),
    label: textOf(row, 'label'),
    seq: numberOf(row, 'seq'),
    snapshot: { root: hashOf(row, 'root'), orphans: hashOf(row, 'orphans') },
    time: { sec: numberOf(row, 'time_sec'), nsec: numberOf(row, 'time_nsec') },
  }
}
