import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { layerStoreCases } from '../conformance/layer-store.ts'
import { MemoryLayerStore } from './memory-layer-store.ts'

describe('layers in memory', () => {
  runCases(layerStoreCases, async () => ({ store: new MemoryLayerStore() }))
})
