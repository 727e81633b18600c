import { type Hash, isCairnError } from '@cairn/protocol'
import { blobBytesMax } from '../content/blobs.ts'
import type { Data, Op } from '../filesystem/op.ts'
import type { HashFunction } from '../ports/hash.ts'
import { runAtOnce, type Steps } from '../tree/steps.ts'
import { type Batch, type BatchBody, batchVersion, decodeInSteps, encodeInSteps } from './batch.ts'

type Bytes = Extract<Data, { type: 'bytes' }>

/** Less than this is hardly longer than its name. */
const namedBytesMin = 256

/**
 * A batch whose content is named and not held: by the blob that the same bytes would be. It is what the batch's hash is
 * of. So a row may lose the bytes that a fold has stored, and the chain holds all the same.
 */
export function* encodeReference(batch: Batch, hash: HashFunction): Steps<Uint8Array> {
  return yield* encodeInSteps({ ...batch, body: yield* referenceBody(batch.body, hash) })
}

/** The same where nothing in it is long enough to be named. */
export function* referenceBody(body: BatchBody, hash: HashFunction): Steps<BatchBody> {
  if (body.type !== 'ops' || !body.ops.some(isNamed)) return body
  const ops: Op[] = []
  for (const op of body.ops) {
    ops.push(referenceOp(op, hash))
    yield
  }
  return { type: 'ops', ops }
}

function referenceOp(op: Op, hash: HashFunction): Op {
  if (!isNamed(op)) return op
  const { bytes } = op.data
  const [id, length] = [hash(bytes), bytes.length]
  return { ...op, data: { type: 'blob', id, blobLength: length, start: 0, length } }
}

function isNamed(op: Op): op is Extract<Op, { data: Data }> & { readonly data: Bytes } {
  if (!('data' in op) || op.data.type !== 'bytes') return false
  const { length } = op.data.bytes
  // No blob is longer, and a name that no blob can have would be none.
  return length >= namedBytesMin && length <= blobBytesMax
}

/** `bytes` are the batch as `encodeBatch` gives it. */
export function* hashOfBatch(batch: Batch, bytes: Uint8Array, hash: HashFunction): Steps<Hash> {
  const body = yield* referenceBody(batch.body, hash)
  return hash(body === batch.body ? bytes : yield* encodeInSteps({ ...batch, body }))
}

/** The hash of a row as it was appended, or as it was trimmed: both give the same. */
export function hashOfRow(bytes: Uint8Array, hash: HashFunction): Hash {
  return runAtOnce(hashRowInSteps(bytes, hash))
}

/** The same for a row that may be long. */
export function* hashRowInSteps(bytes: Uint8Array, hash: HashFunction): Steps<Hash> {
  // Before, it was of the bytes as they stand.
  if (bytes[0] !== batchVersion) return hash(bytes)
  try {
    return yield* hashOfBatch(yield* decodeInSteps(bytes), bytes, hash)
  } catch (error) {
    // An unknown batch: fall back to its bytes. Decoding it will report the error.
    if (isCairnError(error)) return hash(bytes)
    throw error
  }
}
