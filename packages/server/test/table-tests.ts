import { describe } from 'vitest'
import { runCases } from '@cairn/core/testing'
import { blobCases, databaseSuites } from '../src/conformance/suites.ts'
import type { Database } from '../src/storage/database.ts'
import { MemoryObjectStore } from '../src/conformance/memory-object-store.ts'

/** Everything that stands on a database, asked on one that has the schema. It is shared by all tests. */
export function runTableTests(database: () => Database): void {
  for (const [name, cases] of Object.entries(databaseSuites))
    describe(name, () => runCases(cases, async () => ({ store: database() })))
  const objects = new MemoryObjectStore()
  describe('blobs', () =>
    runCases(blobCases, async () => ({ store: { database: database(), objects } })))
}
