import { describe } from 'vitest'
import { MemoryNodeStore } from './memory-node-store.ts'
import { runNodeStoreTests } from './node-store-tests.ts'

describe('memory node store', () => {
  runNodeStoreTests(async () => ({ store: new MemoryNodeStore() }))
})
