import { describe } from 'vitest'
import { MemoryBlobStore } from './memory-blob-store.ts'
import { runBlobStoreTests } from './blob-store-tests.ts'

describe('memory blob store', () => {
  runBlobStoreTests(async () => ({ store: new MemoryBlobStore() }))
})
