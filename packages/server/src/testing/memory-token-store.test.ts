import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { MemoryTokenStore } from './memory-token-store.ts'
import { tokenStoreCases } from '../conformance/token-store.ts'

describe('token store in memory', () => {
  runCases(tokenStoreCases, async () => ({ store: new MemoryTokenStore() }))
})
