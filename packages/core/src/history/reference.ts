import { type Hash, isCairnError } from '@cairn/protocol'
import { blobBytesMax } from '../content/blobs.ts'
import type { Data, Op } from '../filesystem/op.ts'
import type { HashFunction } from '../ports/hash.ts'
import { type Batch, type BatchBody, batchVersion, decodeBatch, encodeBatch } from './batch.ts'

type Bytes = Extract<Data, { type: 'bytes' }>

/** Less than this is hardly longer than its name. */
const namedBytesMin = 256

/**
 * A batch whose content is named and not held: by the blob that the same bytes would be. It is what the batch's hash is
 * of. So a row may lose the bytes that a fold has stored, and the chain holds all the same.
 */
export function encodeReference(batch: Batch, hash: HashFunction): Uint8Array {
  return encodeBatch({ ...batch, body: referenceBody(batch.body, hash) })
}

/** The same where nothing in it is long enough to be named. */
export function referenceBody(body: BatchBody, hash: HashFunction): BatchBody {
  if (body.type !== 'ops' || !body.ops.some(isNamed)) return body
  return { type: 'ops', ops: body.ops.map((op) => referenceOp(op, hash)) }
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
export function hashOfBatch(batch: Batch, bytes: Uint8Array, hash: HashFunction): Hash {
  const body = referenceBody(batch.body, hash)
  return hash(body === batch.body ? bytes : encodeBatch({ ...batch, body }))
}

/** Of a row as it was appended, or as it was trimmed: both give the same. */
export function hashOfRow(bytes: Uint8Array, hash: HashFunction): Hash {
  // Before, it was of the bytes as they stand.
  if (bytes[0] !== batchVersion) return hash(bytes)
  try {
    return hashOfBatch(decodeBatch(bytes), bytes, hash)
  } catch (error) {
    // No batch we know: then its bytes must do. Whoever reads it will say what is wrong.
    if (isCairnError(error)) return hash(bytes)
    throw error
  }
}
