import { describe } from 'vitest'
import { MemoryBlobStore } from './memory-blob-store.ts'
import { blobStoreCases } from '../conformance/blob-store.ts'
import { runCases } from './run-cases.ts'

describe('memory blob store', () => {
  runCases(blobStoreCases, async () => ({ store: new MemoryBlobStore() }))
})
