import type { LogRow } from '@cairn/core'
import {
  type BranchId,
  CairnError,
  type Hash,
  hashBytes,
  type Reader,
  type SessionId,
  Writer,
} from '@cairn/protocol'

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
export function recordBytesMax(type: RecordType): number {
  return type === 'head' ? 256 << 20 : 16 << 20
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
