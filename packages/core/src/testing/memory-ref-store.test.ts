import { describe } from 'vitest'
import { MemoryRefStore } from './memory-ref-store.ts'
import { refStoreCases } from '../conformance/ref-store.ts'
import { runCases } from './run-cases.ts'

describe('memory ref store', () => {
  runCases(refStoreCases, async () => ({ store: new MemoryRefStore() }))
})
