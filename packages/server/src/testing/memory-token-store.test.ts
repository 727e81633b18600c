import { describe } from 'vitest'
import { MemoryTokenStore } from './memory-token-store.ts'
import { runTokenStoreTests } from './token-store-tests.ts'

describe('token store in memory', () => {
  runTokenStoreTests(async () => ({ store: new MemoryTokenStore() }))
})
