import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { keyStoreCases } from '../src/conformance/key-store.ts'
import { MemoryKeyStore } from './memory-key-store.ts'

describe('key store in memory', () => {
  runCases(keyStoreCases, async () => ({ store: new MemoryKeyStore() }))
})
