import {
  type BranchRecord,
  type BranchState,
  branchStates,
  type Checkpoint,
  type NextBase,
  type Resolution,
} from '@cairn/core'
import {
  type BranchId,
  type CheckpointId,
  type Hash,
  hashBytes,
  Reader,
  Writer,
} from '@cairn/protocol'
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
  'first_base',
  'base_seq',
  'next_bases',
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
    record.firstBase === undefined ? null : hashColumn(record.firstBase),
    record.baseSeq ?? null,
    encodeNextBases(record.next),
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
    firstBase: row['first_base'] === null ? undefined : hashOf(row, 'first_base'),
    baseSeq: row['base_seq'] === null ? undefined : numberOf(row, 'base_seq'),
    next: row['next_bases'] === null ? [] : decodeNextBases(bytesOf(row, 'next_bases')),
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

function encodeNextBases(bases: readonly NextBase[]): Uint8Array {
  const writer = new Writer().varint(bases.length)
  for (const { base, baseSeq, branch, seq, after } of bases) {
    writer.rawByteString(base.root).rawByteString(base.orphans).varint(baseSeq)
    writer.text(branch).positive(seq).rawByteString(after)
  }
  return writer.finish()
}

function decodeNextBases(bytes: Uint8Array): NextBase[] {
  const reader = new Reader(bytes, 'next bases')
  const bases: NextBase[] = []
  for (let left = reader.count(3 * hashBytes); left > 0; left--) {
    const base = { root: readHash(reader), orphans: readHash(reader) }
    const baseSeq = reader.varint()
    const branch = reader.text() as BranchId
    bases.push({ base, baseSeq, branch, seq: reader.positive(), after: readHash(reader) })
  }
  reader.end()
  return bases
}

function readHash(reader: Reader): Hash {
  return reader.rawByteString(hashBytes) as Hash
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
