import { CairnError, formatHash, type Hash } from '@cairn/protocol'
import type { NodeStore } from '../ports/node-store.ts'

export class MemoryNodeStore implements NodeStore {
  /** Open to tests that damage or count what is stored. */
  readonly nodes: Map<Hash, Uint8Array> = new Map()

  async get(hash: Hash): Promise<Uint8Array> {
    const bytes = this.nodes.get(hash)
    if (bytes) return bytes.slice()
    const id = formatHash(hash)
    throw new CairnError('node_missing', {
      what: `read tree node ${id}`,
      reason: 'not stored',
      subject: id,
    })
  }

  async put(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    for (const [hash, bytes] of nodes) this.nodes.set(hash, bytes.slice())
  }
}
