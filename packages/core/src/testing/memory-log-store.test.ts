import { describe } from 'vitest'
import { MemoryLogStore } from './memory-log-store.ts'
import { runLogStoreTests } from './log-store-tests.ts'

describe('memory log store', () => {
  runLogStoreTests(async () => ({ store: new MemoryLogStore() }))
})
