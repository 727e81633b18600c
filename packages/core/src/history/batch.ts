import {
  type ActorId,
  type BranchId,
  type Hash,
  hashBytes,
  isToolCall,
  Reader,
  type SessionId,
  Writer,
} from '@cairn/protocol'
import { branchStates, type BranchState, type Snapshot, type Time } from '../ports/records.ts'
import type { Op } from '../filesystem/op.ts'
import { readTime, writeTime } from '../filesystem/field-codecs.ts'
import { runAtOnce, type Steps } from '../tree/steps.ts'
import { readOp, writeOp } from './op-codec.ts'

/** Since 2 the hash is of the batch with its content named; see `reference.ts`. Both are spelled the same. */
export const batchVersion = 2
/** What every database we know takes as one row, with room to spare. */
export const batchBytesMax: number = 4 << 20

export const rootCauses = ['rollback', 'undo', 'commit', 'rebase'] as const
export type RootCause = (typeof rootCauses)[number]

/** Puts the head on another tree. What it was before stays named, so that it can be undone. */
export interface RootChange {
  readonly cause: RootCause
  readonly before: Snapshot
  readonly after: Snapshot
  /** The checkpoint gone back to, the layer committed … */
  readonly subject: string
  readonly message: string
}

export type BatchBody =
  | { readonly type: 'ops'; readonly ops: readonly Op[] }
  | { readonly type: 'root'; readonly change: RootChange }
  /** Takes the lease away: batches of an older epoch are refused from here on. */
  | { readonly type: 'epoch' }
  /** Opens or closes the branch for writing. */
  | { readonly type: 'state'; readonly state: BranchState }

const maskedChanges = ['nothing', 'writes', 'replacement'] as const

/**
 * Stands for operations or a root that a session may not see: whether anything changed that it may know of, and whether
 * files were written to or replaced, which open ones must be told apart by. What changed, it asks for by the number.
 */
export interface MaskedBody {
  readonly type: 'masked'
  readonly change: (typeof maskedChanges)[number]
}

/** `call` is no body: it stands before one, with the tool call that made the batch. */
const bodyTypes = ['ops', 'root', 'epoch', 'state', 'masked', 'call'] as const satisfies readonly (
  | (BatchBody | MaskedBody)['type']
  | 'call'
)[]

/** One entry of a branch's log. */
export interface Batch {
  readonly branch: BranchId
  /** Counts from 1, without gaps. */
  readonly seq: number
  /** In force from this batch on. */
  readonly epoch: number
  readonly session: SessionId
  /** The session's own number for it; grows with each. Sending a number again gives the first answer. */
  readonly number: number
  readonly actor: ActorId
  readonly time: Time
  /** The call of an agent's tool that the batch is part of, as its client says. */
  readonly toolCall?: string | undefined
  readonly body: BatchBody
  /** Hash of the batch before; `genesis` for the first. */
  readonly previous: Hash
}

/** A batch without its operations: those of 4 MiB take 100 ms to decode. */
export interface BatchOutline extends Omit<Batch, 'body'> {
  readonly body:
    | Exclude<BatchBody, { type: 'ops' }>
    | { readonly type: 'ops'; readonly count: number }
}

/** A batch as a session gets it. One that is masked is never in a log. */
export interface SentBatch extends Omit<Batch, 'body'> {
  readonly body: BatchBody | MaskedBody
}

/**
 * Shared: only one batch is written at a time, and a mount writes one for each change. A new buffer
 * each time cost half of that.
 */
const scratch = new Writer(1024)

/** A step codes this many operations: less than 1 ms. */
const opsPerStep = 512

/** What stands where the first batch has no predecessor. */
export const genesis: Hash = '\0'.repeat(hashBytes) as Hash

/** As a log store gets it. What its hash is of, `encodeReference` says. */
export function encodeBatch(batch: SentBatch): Uint8Array {
  return runAtOnce(writeBatch(scratch.reset(), batch))
}

/** The same for a batch that may be long. It has a buffer of its own: others write between its steps. */
export function encodeInSteps(batch: Batch): Steps<Uint8Array> {
  return writeBatch(new Writer(1024), batch)
}

function* writeBatch(writer: Writer, batch: SentBatch): Steps<Uint8Array> {
  writer.u8(batchVersion)
  writer.text(batch.branch).positive(batch.seq).positive(batch.epoch)
  writer.text(batch.session).positive(batch.number).text(batch.actor)
  writeTime(writer, batch.time)
  writer.rawByteString(batch.previous)
  writeToolCall(writer, batch.toolCall)
  yield* writeInSteps(writer, batch.body, batch.time)
  return writer.finish()
}

export function decodeBatch(bytes: Uint8Array): Batch {
  return runAtOnce(decodeInSteps(bytes))
}

/** The same for a batch that may be long: one of 4 MiB takes 100 ms. */
export function* decodeInSteps(bytes: Uint8Array): Steps<Batch> {
  const reader = new Reader(bytes, 'batch')
  const { body, ...batch } = yield* readSentBatch(reader, bytes.length)
  if (body.type === 'masked') throw reader.malformed('a masked batch in a log')
  return { ...batch, body }
}

export function decodeSentBatch(bytes: Uint8Array): SentBatch {
  return runAtOnce(readSentBatch(new Reader(bytes, 'batch'), bytes.length))
}

export function decodeOutline(bytes: Uint8Array): BatchOutline {
  const reader = new Reader(bytes, 'batch')
  const front = readFront(reader, bytes.length)
  const { type, ...said } = readType(reader)
  if (type === 'masked') throw reader.malformed('a masked batch in a log')
  if (type === 'ops') return { ...front, ...said, body: { type, count: reader.count(2) } }
  const body = runAtOnce(readTyped(reader, front.time, type)) as BatchOutline['body']
  reader.end()
  return { ...front, ...said, body }
}

function* readSentBatch(reader: Reader, length: number): Steps<SentBatch> {
  const front = readFront(reader, length)
  const said = yield* readBody(reader, front.time)
  reader.end()
  return { ...front, ...said }
}

/** What stands before the tool call and the body. */
function readFront(reader: Reader, length: number): Omit<SentBatch, 'body' | 'toolCall'> {
  if (length > batchBytesMax) throw reader.malformed(`${length} bytes`)
  const version = reader.u8()
  if (version > batchVersion) throw reader.unsupported(`format ${version}`)
  if (version === 0) throw reader.malformed('format 0')
  const branch = reader.text() as BranchId
  const seq = reader.positive()
  const epoch = reader.positive()
  const session = reader.text() as SessionId
  const number = reader.positive()
  const actor = reader.text() as ActorId
  const time = readTime(reader)
  const previous = reader.rawByteString(hashBytes) as Hash
  return { branch, seq, epoch, session, number, actor, time, previous }
}

/** The part that a session decides, for telling whether a batch sent again is the same one. */
export function encodeBody(body: BatchBody, time: Time, toolCall?: string): Uint8Array {
  const writer = scratch.reset()
  writeTime(writer, time)
  writeToolCall(writer, toolCall)
  writeBody(writer, body, time)
  return writer.finish()
}

/** The same for one that may be long. */
export function* encodeBodyInSteps(body: BatchBody, time: Time): Steps<Uint8Array> {
  const writer = new Writer(1024)
  writeTime(writer, time)
  yield* writeInSteps(writer, body, time)
  return writer.finish()
}

/** As `encodeBody` of operations, into a writer at hand. */
export function writeOps(writer: Writer, ops: readonly Op[], time: Time, toolCall?: string): void {
  writeTime(writer, time)
  writeToolCall(writer, toolCall)
  writeBody(writer, { type: 'ops', ops }, time)
}

/** As `writeOps` of one: for who writes down each one by itself. */
export function writeOneOp(writer: Writer, op: Op, time: Time): void {
  writeTime(writer, time)
  writer.choice(bodyTypes, 'ops').varint(1)
  writeOp(writer, op, time)
}

/** How long an operation is in a batch of that time. */
export function encodedBytes(op: Op, time: Time): number {
  const writer = scratch.reset()
  writeOp(writer, op, time)
  return writer.length
}

/** What a session sends. */
export interface SubmittedBody {
  readonly time: Time
  readonly ops: readonly Op[]
  readonly toolCall?: string | undefined
}

/** The counterpart of `encodeBody`, for what sessions send: operations and nothing else. */
export function decodeBody(bytes: Uint8Array): SubmittedBody {
  return runAtOnce(decodeBodyInSteps(bytes))
}

/** The same for a submission that may be long. */
export function* decodeBodyInSteps(bytes: Uint8Array): Steps<SubmittedBody> {
  const reader = new Reader(bytes, 'submission')
  const time = readTime(reader)
  const { body, ...said } = yield* readBody(reader, time)
  reader.end()
  if (body.type !== 'ops') throw reader.malformed('something else than operations')
  return { time, ops: body.ops, ...said }
}

/** Nothing where there is none: such a batch is spelled as before there were tool calls. */
function writeToolCall(writer: Writer, toolCall: string | undefined): void {
  if (toolCall !== undefined) writer.choice(bodyTypes, 'call').text(toolCall)
}

function writeBody(writer: Writer, body: BatchBody, time: Time): void {
  runAtOnce(writeInSteps(writer, body, time))
}

function* writeInSteps(writer: Writer, body: SentBatch['body'], time: Time): Steps<void> {
  writer.choice(bodyTypes, body.type)
  if (body.type === 'ops') {
    writer.varint(body.ops.length)
    for (const [index, op] of body.ops.entries()) {
      if (index % opsPerStep === opsPerStep - 1) yield
      writeOp(writer, op, time)
    }
  } else if (body.type === 'root') {
    const { cause, before, after, subject, message } = body.change
    writer.choice(rootCauses, cause)
    for (const { root, orphans } of [before, after])
      writer.rawByteString(root).rawByteString(orphans)
    writer.text(subject).text(message)
  } else if (body.type === 'state') writer.choice(branchStates, body.state)
  else if (body.type === 'masked') writer.choice(maskedChanges, body.change)
}

function* readBody(reader: Reader, time: Time): Steps<Pick<SentBatch, 'body' | 'toolCall'>> {
  const { type, ...said } = readType(reader)
  return { ...said, body: yield* readTyped(reader, time, type) }
}

/** Reads the type of the body, and the tool call before it. */
function readType(
  reader: Reader,
): Pick<SentBatch, 'toolCall'> & { readonly type: SentBatch['body']['type'] } {
  const type = reader.choice(bodyTypes, 'body')
  if (type !== 'call') return { type }
  const toolCall = reader.text()
  if (!isToolCall(toolCall)) throw reader.malformed('no tool call')
  const inner = reader.choice(bodyTypes, 'body')
  if (inner === 'call' || inner === 'masked') throw reader.malformed(`the tool call of '${inner}'`)
  return { toolCall, type: inner }
}

function* readTyped(
  reader: Reader,
  time: Time,
  type: SentBatch['body']['type'],
): Steps<SentBatch['body']> {
  switch (type) {
    case 'ops': {
      const ops: Op[] = []
      for (let left = reader.count(2); left > 0; left--) {
        if (left % opsPerStep === 0) yield
        ops.push(readOp(reader, time))
      }
      return { type, ops }
    }
    case 'root':
      return { type, change: readRootChange(reader) }
    case 'epoch':
      return { type }
    case 'state':
      return { type, state: reader.choice(branchStates, 'state') }
    case 'masked':
      return { type, change: reader.choice(maskedChanges, 'change') }
  }
}

function readRootChange(reader: Reader): RootChange {
  const cause = reader.choice(rootCauses, 'cause')
  const before = readSnapshot(reader)
  const after = readSnapshot(reader)
  return { cause, before, after, subject: reader.text(), message: reader.text() }
}

function readSnapshot(reader: Reader): Snapshot {
  const root = reader.rawByteString(hashBytes) as Hash
  return { root, orphans: reader.rawByteString(hashBytes) as Hash }
}
