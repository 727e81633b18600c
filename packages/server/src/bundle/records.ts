import type { BranchRecord, Checkpoint, LogRow, Snapshot } from '@cairn/core'
import {
  type BranchId,
  CairnError,
  type Hash,
  hashBytes,
  type Reader,
  type SessionId,
  Writer,
} from '@cairn/protocol'
import type { CheckpointLabel, LayerRecord, Settings } from '../ports/layer-store.ts'

/** What a bundle begins with. A number that is not 1 is of a version that came later. */
export const bundleMagic = 'cairn bundle 1\n'

/** The wire numbers of records. Only ever append. */
export const recordTypes = ['head', 'row', 'node', 'blob', 'end', 'journal'] as const
export type RecordType = (typeof recordTypes)[number]

/** One of a bundle, which is checked already. */
export interface BundleRecord {
  readonly type: RecordType
  readonly payload: Uint8Array
}

/** More is no record: a log row has up to 4 MiB, and a head some hundred bytes for a layer. */
export const recordBytesMax: number = 256 << 20

/** What the rest of a bundle belongs to. */
export interface BundleHead {
  readonly workspace: {
    readonly id: string
    readonly name: string
    readonly createdAt: string
    /** Greater than all numbers of inodes in the bundle. */
    readonly nextIno: number
  }
  readonly exportedAt: string
  /** The end of the bundle that this one goes on from, in hexadecimal. */
  readonly since?: string | undefined
  /** Each as of its newest fold: the rows of its log end there. Parents come after their layers. */
  readonly branches: readonly BranchRecord[]
  readonly checkpoints: readonly Checkpoint[]
  readonly labels: readonly CheckpointLabel[]
  /** In the order in which they were made. */
  readonly layers: readonly LayerRecord[]
  readonly settings: readonly { readonly layer: string; readonly settings: Settings }[]
}

/** Hashes stay as they are in memory: a character for each byte. */
export function encodeHead(head: BundleHead): Uint8Array {
  const text = JSON.stringify(head, (_, value: unknown) =>
    value instanceof Uint8Array ? { base64: Buffer.from(value).toString('base64') } : value,
  )
  return Buffer.from(text)
}

export function decodeHead(payload: Uint8Array): BundleHead {
  try {
    const head = JSON.parse(Buffer.from(payload).toString(), (_, value: unknown) => {
      const base64 = (value as { base64?: unknown } | null)?.base64
      return typeof base64 === 'string' ? new Uint8Array(Buffer.from(base64, 'base64')) : value
    }) as BundleHead
    requireOwnBranches(head)
    return head
  } catch (cause) {
    throw malformed('its head cannot be read', cause)
  }
}

/** Branches are found, and collected, by the id of their workspace. */
function requireOwnBranches({ workspace, branches, layers }: BundleHead): void {
  const own = `${workspace.id}/`
  const ids = new Set(branches.map(({ id }) => id))
  const areOwn = [...ids].every((id) => id.startsWith(own)) && ids.has(`${own}main` as BranchId)
  const haveBranches = layers.every(
    ({ branch, workspace: of }) => ids.has(branch) && of === workspace.id,
  )
  if (!areOwn || !haveBranches) throw new Error('a branch is of another workspace')
}

/** All trees that a bundle must have whole. */
export function snapshotsOf({ branches, checkpoints }: BundleHead): readonly Snapshot[] {
  return [
    ...branches.flatMap(({ base, firstBase, next, folded }) => [
      base,
      ...(firstBase === undefined ? [] : [{ ...base, root: firstBase }]),
      ...next.map((each) => each.base),
      folded.snapshot,
    ]),
    ...checkpoints.map(({ snapshot }) => snapshot),
  ]
}

export interface BundleRow {
  readonly branch: BranchId
  readonly row: LogRow
}

export function encodeRow({ branch, row }: BundleRow): Uint8Array {
  const { seq, session, number, bytes, hash, answer } = row
  const writer = new Writer(bytes.length + 256)
  writer.text(branch).varint(seq).text(session).varint(number).rawByteString(hash).bytes(bytes)
  writer.u8(answer === undefined ? 0 : 1).text(answer ?? '')
  return writer.finish()
}

export function decodeRow(reader: Reader): BundleRow {
  const branch = reader.text() as BranchId
  const seq = reader.varint()
  const session = reader.text() as SessionId
  const number = reader.varint()
  const hash = reader.rawByteString(hashBytes) as Hash
  const bytes = reader.bytes()
  const [hasAnswer, text] = [reader.u8() === 1, reader.text()]
  reader.end()
  return { branch, row: { seq, session, number, bytes, hash, ...(hasAnswer && { answer: text }) } }
}

export function malformed(why: string, cause?: unknown): CairnError {
  return new CairnError('malformed', {
    what: 'read the bundle',
    reason: why,
    hint: 'Use another copy of it, or export the workspace again.',
    cause,
  })
}
