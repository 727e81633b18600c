import { crc32 } from 'node:zlib'
import { decodeBody, encodeBody, type Op, type Time } from '@cairn/core'
import { Reader, Writer } from '@cairn/protocol'

/**
 * What stands in the spool: length, checksum, then one of these. After a crash of the whole machine the tail may be
 * anything; the checksum says where sense ends.
 */
export type SpoolRecord =
  /** From here on operations belong to the batch with that number, acknowledged under the lease of that epoch. */
  | { readonly type: 'batch'; readonly number: number; readonly epoch: number; readonly time: Time }
  | { readonly type: 'op'; readonly op: Op }
  /** About to be asked of the server, which decides. The kernel asks again for what a dead daemon did not answer. */
  | { readonly type: 'intent'; readonly op: Op }
  /** Bytes that were fetched. They mean nothing after a restart. */
  | { readonly type: 'bytes' }
  /** Everything up to that batch number is at the server; the image had taken in the log up to `seq`. */
  | {
      readonly type: 'progress'
      readonly settled: number
      readonly lastNumber: number
      readonly seq: number
    }

const types = [
  'batch',
  'op',
  'bytes',
  'progress',
  'intent',
] as const satisfies SpoolRecord['type'][]
const headBytes = 8
const nothing = new Uint8Array()
const scratch = new Writer(256)

/** The pieces of a record; `data` is the last one, as it is. */
export function encodeRecord(record: SpoolRecord, data: Uint8Array = nothing): Uint8Array[] {
  const writer = scratch.reset().u32(0).u32(0).choice(types, record.type)
  if (record.type === 'batch') {
    writer.positive(record.number).positive(record.epoch)
    writer.bytes(encodeBody({ type: 'ops', ops: [] }, record.time))
  } else if (record.type === 'op' || record.type === 'intent') writer.bytes(encodeOp(record.op))
  else if (record.type === 'progress')
    writer.varint(record.settled).varint(record.lastNumber).varint(record.seq)
  const head = writer.finish()
  const view = new DataView(head.buffer, head.byteOffset, headBytes)
  view.setUint32(0, head.length - headBytes + data.length, true)
  view.setUint32(4, crc32(data, crc32(head.subarray(headBytes))), true)
  return data.length === 0 ? [head] : [head, data]
}

/** The bytes of a write stand behind the record, where they can be read in place. */
function encodeOp(op: Op): Uint8Array {
  const bare = hasBytes(op) ? { ...op, data: { type: 'bytes' as const, bytes: nothing } } : op
  return encodeBody({ type: 'ops', ops: [bare] }, 'time' in op ? op.time : { sec: 0, nsec: 0 })
}

function hasBytes(op: Op): boolean {
  return op.type === 'write' && op.data.type === 'bytes'
}

/** The records of a segment, up to where it stops making sense. */
export function* decodeRecords(segment: Uint8Array): Generator<SpoolRecord> {
  const view = new DataView(segment.buffer, segment.byteOffset, segment.byteLength)
  for (let at = 0; at + headBytes <= segment.length;) {
    const end = at + headBytes + view.getUint32(at, true)
    if (end === at + headBytes || end > segment.length) return
    const bytes = segment.subarray(at + headBytes, end)
    if (crc32(bytes) !== view.getUint32(at + 4, true)) return
    yield decodeRecord(bytes)
    at = end
  }
}

function decodeRecord(bytes: Uint8Array): SpoolRecord {
  const reader = new Reader(bytes, 'spool record')
  const type = reader.choice(types, 'record')
  switch (type) {
    case 'batch': {
      const number = reader.positive()
      const epoch = reader.positive()
      return { type, number, epoch, time: decodeBody(reader.bytes()).time }
    }
    case 'op': {
      const [op] = decodeBody(reader.bytes()).ops
      const data = bytes.slice(bytes.length - reader.remaining)
      return { type, op: hasBytes(op!) ? withBytes(op!, data) : op! }
    }
    case 'intent':
      return { type, op: decodeBody(reader.bytes()).ops[0]! }
    case 'bytes':
      return { type }
    case 'progress':
      return { type, settled: reader.varint(), lastNumber: reader.varint(), seq: reader.varint() }
  }
}

function withBytes(op: Op, bytes: Uint8Array): Op {
  return op.type === 'write' ? { ...op, data: { type: 'bytes', bytes } } : op
}
