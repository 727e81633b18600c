import type { NodeStore } from '../ports/node-store.ts'
import { nodeBytesMax } from '../tree/layout.ts'
import { hashStoreCases } from './hash-store.ts'
import type { StoreCase } from './store-case.ts'

/** The contract of NodeStore. Every implementation passes it, and every decorator around one. */
export const nodeStoreCases: readonly StoreCase<NodeStore>[] = hashStoreCases({
  missing: 'node_missing',
  bytesMax: nodeBytesMax,
})
