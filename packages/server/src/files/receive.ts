import {
  blobHeadBytesMax,
  type Blobs,
  blockBytes,
  type Data,
  InFlight,
  type SealedBlob,
  withoutTrailingZeros,
} from '@cairn/core'
import { CairnError } from '@cairn/protocol'
import { giveBlock, takeBlock } from './block-memory.ts'

export interface Piece {
  readonly offset: number
  readonly data: Data
}

export interface Received {
  /** In order, without overlap. Zeros are left out. */
  readonly pieces: readonly Piece[]
  readonly size: number
}

/** Up to this many bytes ride in the log batch itself: one durable write instead of two. */
const inlineBytesMax = 64 * 1024
export const bodyBytesMax: number = 16 * 2 ** 30
/** Blocks that are stored together cost the database one commit to begin and one to end, and share syncs of directories. */
const blocksTogether = 16
/** One group is hashed while another waits for the disk: 8 MiB of memory, and another 4 MiB that arrive meanwhile. */
const groupsAtOnce = 2

/**
 * Takes a body in, in blocks. When it resolves, every byte that is not in `pieces` itself is stored; when it rejects,
 * nothing more will be.
 */
export async function receiveBody(
  body: AsyncIterable<Uint8Array>,
  blobs: Blobs,
): Promise<Received> {
  const storing = new InFlight(groupsAtOnce)
  try {
    return await receiveBlocks(body, blobs, storing)
  } catch (error) {
    await storing.drain().catch(() => {})
    throw error
  }
}

async function receiveBlocks(
  body: AsyncIterable<Uint8Array>,
  blobs: Blobs,
  storing: InFlight,
): Promise<Received> {
  const pieces: Piece[] = []
  let size = 0
  let group: ReceivedBlock[] = []
  let underWay = 0
  const store = (): Promise<void> => {
    underWay++
    const stored = storeGroup(group, blobs).then((more) => {
      underWay--
      pieces.push(...more)
    })
    group = []
    return storing.add(stored)
  }
  for await (const block of blocksOf(body)) {
    const offset = size
    size += block.length
    if (size > bodyBytesMax) throw tooLarge()
    if (offset === 0 && block.length <= inlineBytesMax) {
      pieces.push({ offset, data: { type: 'bytes', bytes: block.slice() } })
      continue
    }
    group.push({ offset, block })
    // The first one at once; while one group is stored the next one gathers.
    if (underWay === 0 || group.length === blocksTogether) await store()
  }
  if (group.length > 0) await store()
  await storing.drain()
  return { pieces: pieces.sort((a, b) => a.offset - b.offset), size }
}

interface ReceivedBlock {
  readonly offset: number
  readonly block: Uint8Array
}

async function storeGroup(group: readonly ReceivedBlock[], blobs: Blobs): Promise<Piece[]> {
  const stored = await Promise.all(
    group.map(async ({ offset, block }) => {
      const bytes = withoutTrailingZeros(block)
      if (bytes.length === 0) return []
      const blob = await blobs.seal(bytes, blobHeadBytesMax)
      return [{ blob, piece: { offset, data: dataOf(blob, bytes) } }]
    }),
  )
  // In the order of the file, which is the order of a pack: a reader then asks for long stretches.
  await blobs.store(stored.flat().map(({ blob }) => blob))
  // Only now: after a failure the store may still be reading them.
  for (const { block } of group) giveBlock(block)
  return stored.flat().map(({ piece }) => piece)
}

function dataOf({ id }: SealedBlob, { length }: Uint8Array): Data {
  return { type: 'blob', id, blobLength: length, start: 0, length }
}

/** Says no before anything is sent, where the sender told how much it will be. */
export function requireLength(contentLength: string | undefined, most: number): void {
  if (Number(contentLength ?? 0) > most)
    throw new CairnError('too_large', {
      what: `take a body of ${contentLength} bytes`,
      reason: `${most} are allowed`,
    })
}

/** One block of an upload, whole in memory. */
export async function receiveBlock(
  body: AsyncIterable<Uint8Array> | undefined,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > blockBytes)
      throw new CairnError('too_large', {
        what: 'take the block',
        reason: `it has more than ${blockBytes} bytes`,
      })
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** One block, stored; undefined when it is all zeros. `headroom` as for `Blobs.seal`. */
export async function storeBlock(
  block: Uint8Array,
  blobs: Blobs,
  headroom = 0,
): Promise<Data | undefined> {
  const bytes = withoutTrailingZeros(block)
  if (bytes.length === 0) return undefined
  const blob = await blobs.seal(bytes, headroom)
  await blobs.store([blob])
  return dataOf(blob, bytes)
}

/** Each block is its receiver's, who may give its memory back. */
async function* blocksOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let block = takeBlock()
  let filled = 0
  for await (let chunk of body)
    while (chunk.length > 0) {
      const part = chunk.subarray(0, blockBytes - filled)
      block.set(part, filled)
      filled += part.length
      chunk = chunk.subarray(part.length)
      if (filled < blockBytes) continue
      yield block
      block = takeBlock()
      filled = 0
    }
  if (filled > 0) yield block.subarray(0, filled)
}

function tooLarge(): CairnError {
  return new CairnError('too_large', {
    what: 'take the body',
    reason: `it has more than ${bodyBytesMax} bytes`,
  })
}
