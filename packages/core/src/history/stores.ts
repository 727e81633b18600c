import type { Blobs } from '../content/blobs.ts'
import type { Nodes } from '../tree/nodes.ts'
import type { LogStore } from '../ports/log-store.ts'
import type { RefStore } from '../ports/ref-store.ts'

/** Everything a branch stands on. */
export interface Stores {
  readonly nodes: Nodes
  readonly blobs: Blobs
  readonly log: LogStore
  readonly refs: RefStore
}
