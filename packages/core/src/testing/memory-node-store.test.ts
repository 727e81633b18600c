import { describe } from 'vitest'
import { MemoryNodeStore } from './memory-node-store.ts'
import { nodeStoreCases } from '../conformance/node-store.ts'
import { runCases } from './run-cases.ts'

describe('memory node store', () => {
  runCases(nodeStoreCases, async () => ({ store: new MemoryNodeStore() }))
})
