import { Blobs } from '@cairn/core'
import { MemoryBlobStore } from '@cairn/core/testing'
import { CairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { contentWorker } from '../ports/content-worker.ts'
import { receiveBody } from './receive.ts'

describe('receiving a body', () => {
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
