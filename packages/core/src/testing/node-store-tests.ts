import type { NodeStore } from '../ports/node-store.ts'
import { nodeBytesMax } from '../tree/layout.ts'
import { runHashStoreTests } from './hash-store-tests.ts'
import type { StoreSetup } from './store-test.ts'

/** The contract of NodeStore. Every implementation passes it, and every decorator around one. */
export function runNodeStoreTests(setup: StoreSetup<NodeStore>): void {
  runHashStoreTests(setup, { missing: 'node_missing', bytesMax: nodeBytesMax })
}
