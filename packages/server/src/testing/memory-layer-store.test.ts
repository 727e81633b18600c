import { describe } from 'vitest'
import { runLayerStoreTests } from './layer-store-tests.ts'
import { MemoryLayerStore } from './memory-layer-store.ts'

describe('layers in memory', () => {
  runLayerStoreTests(async () => ({ store: new MemoryLayerStore() }))
})
