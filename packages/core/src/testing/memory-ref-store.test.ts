import { describe } from 'vitest'
import { MemoryRefStore } from './memory-ref-store.ts'
import { runRefStoreTests } from './ref-store-tests.ts'

describe('memory ref store', () => {
  runRefStoreTests(async () => ({ store: new MemoryRefStore() }))
})
