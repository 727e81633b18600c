import { randomBytes } from 'node:crypto'
import { Blobs } from '@cairn/core'
import { MemoryBlobStore } from '@cairn/core/testing'
import { CairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { contentWorker } from '../ports/content-worker.ts'
import { type Piece, receiveBody } from './receive.ts'

async function* chunksOf(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.slice(at, at + length)
}

async function read(pieces: readonly Piece[], size: number, blobs: Blobs): Promise<Buffer> {
  const bytes = Buffer.alloc(size)
  for (const { offset, data } of pieces)
    bytes.set(data.type === 'bytes' ? data.bytes : await blobs.read(data.id), offset)
  return bytes
}

describe('receiving a body', () => {
  it('bodies that arrive side by side come back whole, though they use the same memory in turn', async () => {
    const store = new MemoryBlobStore()
    const put = store.put.bind(store)
    // What is stored is read at the very end, as a store does that waits for its turn.
    store.put = async (blobs) => {
      await new Promise(setImmediate)
      await put(blobs)
    }
    const blobs = new Blobs(store, contentWorker)
    const sent = Array.from({ length: 4 }, () => randomBytes(50 * 65_536 + 17))
    for (const round of [0, 1]) {
      const received = await Promise.all(
        sent.map((bytes) => receiveBody(chunksOf(bytes, 60_000 + round), blobs)),
      )
      for (const [i, { pieces, size }] of received.entries())
        expect((await read(pieces, size, blobs)).equals(sent[i]!)).toBe(true)
    }
  })

  it('a small body keeps its bytes when the next one arrives', async () => {
    const blobs = new Blobs(new MemoryBlobStore(), contentWorker)
    const first = await receiveBody(chunksOf(Buffer.from('first'), 2), blobs)
    await receiveBody(chunksOf(randomBytes(600_000), 60_000), blobs)
    await receiveBody(chunksOf(Buffer.from('other'), 2), blobs)
    expect((await read(first.pieces, first.size, blobs)).toString()).toBe('first')
  })

  it('a store that fails between two chunks fails the whole, and nothing else', async () => {
    const store = new MemoryBlobStore()
    const failed = Promise.withResolvers<void>()
    const put = store.put.bind(store)
    store.put = async () => {
      store.put = put
      failed.resolve()
      throw new CairnError('storage_unavailable', { what: 'put it', reason: 'the store is away' })
    }
    async function* body(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(300_000).fill(1)
      await failed.promise
      // A turn of the loop in which an unhandled rejection would end the process.
      await new Promise((resolve) => void setTimeout(resolve))
      yield new Uint8Array(100).fill(2)
    }
    await expect(receiveBody(body(), new Blobs(store, contentWorker))).rejects.toMatchObject({
      code: 'storage_unavailable',
    })
  })
})
