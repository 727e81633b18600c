import { describe } from 'vitest'
import { MemoryLogStore } from './memory-log-store.ts'
import { logStoreCases } from '../conformance/log-store.ts'
import { runCases } from './run-cases.ts'

describe('memory log store', () => {
  runCases(logStoreCases, async () => ({ store: new MemoryLogStore() }))
})
