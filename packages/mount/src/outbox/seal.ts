import { blockBytes, type Op, type SubmittedBody, type WriteOp, writeOps } from '@cairn/core'
import { Writer } from '@cairn/protocol'
import { decodeBlobAnswer } from '../session/answers.ts'
import { coalesce } from './coalesce.ts'

/** From here on bytes go to the object store; fewer ride in the batch, and cost one durable write instead of two. */
const blobBytesMin = 128 * 1024

/** Stores bytes at the server and gives its answer. */
export type PutBlob = (bytes: Uint8Array) => Promise<Uint8Array>

/** Most batches hold no more. */
const roomBytes = 2 << 20

/**
 * Turns acknowledged operations into what is submitted. The same operations give the same bytes. It keeps its memory:
 * megabytes that are made anew for each batch keep the garbage collector at work.
 */
export class Sealer {
  readonly #writer = new Writer()
  #room: Uint8Array | undefined
  #taken = 0

  /** Valid until it seals the next one. */
  async seal({ ops, time, toolCall }: SubmittedBody, put: PutBlob): Promise<Uint8Array> {
    this.#taken = 0
    const joined = coalesce(ops, (length) => this.#take(length))
    writeOps(this.#writer.reset(), await storeLarge(joined, put), time, toolCall)
    return this.#writer.view
  }

  #take(length: number): Uint8Array {
    const start = this.#taken
    if (start + length > roomBytes) return new Uint8Array(length)
    this.#room ??= new Uint8Array(roomBytes)
    this.#taken += length
    return this.#room.subarray(start, this.#taken)
  }
}

/** Brings the bytes of large writes to the object store. */
export async function storeLarge(ops: readonly Op[], put: PutBlob): Promise<readonly Op[]> {
  if (!ops.some(isLarge)) return ops
  const stored = ops.map((op) =>
    isLarge(op) ? storeBlocks(op, op.data.bytes, put) : Promise.resolve([op]),
  )
  return (await Promise.all(stored)).flat()
}

function isLarge(op: Op): op is WriteOp & { readonly data: { readonly type: 'bytes' } } {
  return op.type === 'write' && op.data.type === 'bytes' && op.data.bytes.length >= blobBytesMin
}

/** Cut where the server's own blocks end, so that each blob becomes a block as it is. */
async function storeBlocks(op: WriteOp, bytes: Uint8Array, put: PutBlob): Promise<Op[]> {
  const blocks: Promise<Op[]>[] = []
  for (let start = 0; start < bytes.length;) {
    const offset = op.offset + start
    const end = Math.min(bytes.length, start + blockBytes - (offset % blockBytes))
    blocks.push(storeBlock({ ...op, offset }, bytes.subarray(start, end), put))
    start = end
  }
  return (await Promise.all(blocks)).flat()
}

/** The server keeps no zeros at the end of a blob; they are said in an operation of their own. */
async function storeBlock(op: WriteOp, bytes: Uint8Array, put: PutBlob): Promise<Op[]> {
  const blob = decodeBlobAnswer(await put(bytes))
  const length = blob?.length ?? 0
  const ops: Op[] = []
  if (blob)
    ops.push({ ...op, data: { type: 'blob', id: blob.id, blobLength: length, start: 0, length } })
  if (length < bytes.length) {
    const { type: _, data: __, ...rest } = op
    const zeros = { offset: op.offset + length, length: bytes.length - length }
    ops.push({ type: 'fallocate', ...rest, ...zeros, mode: 'zero' })
  }
  return ops
}
