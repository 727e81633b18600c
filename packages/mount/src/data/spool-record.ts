import { crc32 } from 'node:zlib'
import { decodeBody, encodeBody, type Op, type Time, writeOneOp, type WriteOp } from '@cairn/core'
import { Reader, Writer } from '@cairn/protocol'

/**
 * What stands in the spool: length, checksum, then one of these. After a crash of the whole machine the tail may be
 * anything; the checksum says where sense ends.
 */
export type SpoolRecord =
  /** From here on operations belong to the batch with that number, acknowledged under the lease of that epoch. */
  | {
      readonly type: 'batch'
      readonly number: number
      readonly epoch: number
      readonly time: Time
      readonly toolCall?: string | undefined
    }
  /** Done, for the kernel's request with that number; 0 for none. It asks again for what a dead daemon did not answer. */
  | { readonly type: 'op'; readonly op: Op; readonly request: number }
  /** About to be asked of the server, which decides, under a number of this session. Written bytes are left out. */
  | {
      readonly type: 'intent'
      readonly op: Op
      readonly request: number
      readonly number: number
    }
  /** The server took what was asked under that number. */
  | { readonly type: 'taken'; readonly number: number }
  /** Bytes that were fetched. They mean nothing after a restart. */
  | { readonly type: 'bytes' }
  /** Everything up to that batch number is at the server; the image had taken in the log up to `seq`. */
  | {
      readonly type: 'progress'
      readonly settled: number
      readonly lastNumber: number
      readonly seq: number
      /** Earlier segments hold operations that were deferred and not released then. */
      readonly hasDeferred: boolean
    }
  /** Done like an `op`, and in no batch until it is released. */
  | ({ readonly type: 'deferred'; readonly op: Op; readonly request: number } & Deferral)
  /** `count` deferred operations of a class, from the one with the id `first` on, are the batch with that number. */
  | {
      readonly type: 'released'
      readonly number: number
      readonly epoch: number
      readonly time: Time
      readonly class: DeferringClass
      readonly first: number
      readonly count: number
    }

/** The classes of directories whose changes wait. */
export const deferringClasses = ['local', 'scratch'] as const
export type DeferringClass = (typeof deferringClasses)[number]

interface Deferral {
  readonly class: DeferringClass
  /** Counts what is deferred in the class. */
  readonly id: number
  /** The lease under which it was acknowledged. */
  readonly epoch: number
}

const types = [
  'batch',
  'op',
  'bytes',
  'progress',
  'intent',
  'taken',
  'deferred',
  'released',
] as const satisfies SpoolRecord['type'][]
const headBytes = 8
const nothing = new Uint8Array()
const noTime: Time = { sec: 0, nsec: 0 }

/** The pieces of a record; `data` is the last one, as it is. */
export function encodeRecord(record: SpoolRecord, data: Uint8Array = nothing): Uint8Array[] {
  if (record.type === 'op')
    return encodeOpRecord(record.op, record.request, data).map((piece) => piece.slice())
  if (record.type === 'deferred')
    return encodeDeferredRecord(record.op, record.request, record, data).map((piece) =>
      piece.slice(),
    )
  const writer = begin(new Writer(256), record.type)
  if (record.type === 'batch' || record.type === 'released') {
    writer.positive(record.number).positive(record.epoch)
    const toolCall = record.type === 'batch' ? record.toolCall : undefined
    writer.bytes(encodeBody({ type: 'ops', ops: [] }, record.time, toolCall))
    if (record.type === 'released')
      writer.choice(deferringClasses, record.class).positive(record.first).positive(record.count)
  } else if (record.type === 'intent')
    writeRecordOp(writer, record.op).varint(record.request).positive(record.number)
  else if (record.type === 'taken') writer.positive(record.number)
  else if (record.type === 'progress')
    writer
      .varint(record.settled)
      .varint(record.lastNumber)
      .varint(record.seq)
      .u8(record.hasDeferred ? 1 : 0)
  return seal(writer, data)
}

const scratch = new Writer(1024)

/**
 * The record of an operation; its bytes come as `data`. Valid until the next one is encoded: a copy takes longer than
 * the encoding, and every change of a program comes through here.
 */
export function encodeOpRecord(op: Op, request: number, data: Uint8Array = nothing): Uint8Array[] {
  return seal(writeRecordOp(begin(scratch.reset(), 'op'), op).varint(request), data)
}

/** The same for one that is deferred. */
export function encodeDeferredRecord(
  op: Op,
  request: number,
  deferral: Deferral,
  data: Uint8Array = nothing,
): Uint8Array[] {
  const writer = writeRecordOp(begin(scratch.reset(), 'deferred'), op).varint(request)
  writer.choice(deferringClasses, deferral.class).positive(deferral.id).positive(deferral.epoch)
  return seal(writer, data)
}

function begin(writer: Writer, type: SpoolRecord['type']): Writer {
  return writer.u32(0).u32(0).choice(types, type)
}

function seal(writer: Writer, data: Uint8Array): Uint8Array[] {
  const head = writer.view
  const checksum = crc32(head.subarray(headBytes))
  putU32(head, 0, head.length - headBytes + data.length)
  putU32(head, 4, data.length === 0 ? checksum : crc32(data, checksum))
  return data.length === 0 ? [head] : [head, data]
}

function putU32(bytes: Uint8Array, at: number, value: number): void {
  bytes[at] = value
  bytes[at + 1] = value >>> 8
  bytes[at + 2] = value >>> 16
  bytes[at + 3] = value >>> 24
}

/** The bytes of a write stand behind the record, where they can be read in place. */
function writeRecordOp(writer: Writer, op: Op): Writer {
  const bare = hasBytes(op) ? withBytes(op, nothing) : withoutAppended(op)
  const time = op.type === 'reap' ? noTime : op.time
  return writer.sized(() => writeOneOp(writer, bare, time))
}

/**
 * Set where it is only reported. An acknowledged operation is never an append: the lease holder
 * knows where a file ends.
 */
function withoutAppended(op: Op): Op {
  return op.type === 'append' ? { ...op, data: { type: 'bytes', bytes: nothing } } : op
}

function hasBytes(op: Op): op is WriteOp {
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
      const { ops: _, ...said } = decodeBody(reader.bytes())
      return { type, number, epoch, ...said }
    }
    case 'op': {
      const { op, request } = readOp(reader)
      return { type, op: withRest(op, reader, bytes), request }
    }
    case 'deferred': {
      const { op, request } = readOp(reader)
      const deferral = {
        class: reader.choice(deferringClasses, 'class'),
        id: reader.positive(),
        epoch: reader.positive(),
      }
      return { type, op: withRest(op, reader, bytes), request, ...deferral }
    }
    case 'released': {
      const [number, epoch] = [reader.positive(), reader.positive()]
      const { time } = decodeBody(reader.bytes())
      const of = reader.choice(deferringClasses, 'class')
      const [first, count] = [reader.positive(), reader.positive()]
      return { type, number, epoch, time, class: of, first, count }
    }
    case 'intent':
      return { type, ...readOp(reader), number: reader.positive() }
    case 'taken':
      return { type, number: reader.positive() }
    case 'bytes':
      return { type }
    case 'progress':
      return readProgress(reader)
  }
}

function readProgress(reader: Reader): Extract<SpoolRecord, { type: 'progress' }> {
  const [settled, lastNumber, seq] = [reader.varint(), reader.varint(), reader.varint()]
  // A version before this one deferred nothing and wrote no more.
  const hasDeferred = reader.remaining > 0 && reader.u8() === 1
  return { type: 'progress', settled, lastNumber, seq, hasDeferred }
}

function readOp(reader: Reader): { readonly op: Op; readonly request: number } {
  const [op] = decodeBody(reader.bytes()).ops
  return { op: op!, request: reader.varint() }
}

/** With the bytes behind the record, if it is a write. */
function withRest(op: Op, reader: Reader, bytes: Uint8Array): Op {
  return hasBytes(op) ? withBytes(op, bytes.slice(bytes.length - reader.remaining)) : op
}

export function withBytes(op: WriteOp, bytes: Uint8Array): WriteOp {
  const { type, time, ino, offset, dropPrivileges } = op
  return { type, time, ino, offset, data: { type: 'bytes', bytes }, dropPrivileges }
}
