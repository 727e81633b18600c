import type { NodeStore } from '@cairn/core'
import { CairnError, formatHash, type Hash } from '@cairn/protocol'
import { ContentTable } from './content-table.ts'
import type { Database } from './database.ts'

/** Tree nodes of one pool, in SQL. */
export class NodeTable implements NodeStore {
  readonly #content: ContentTable

  constructor(database: Database, pool: string) {
    this.#content = new ContentTable(database, 'nodes', pool)
  }

  async get(hash: Hash): Promise<Uint8Array> {
    const bytes = await this.#content.find(hash)
    if (bytes) return bytes
    const subject = formatHash(hash)
    throw new CairnError('node_missing', {
      what: `read tree node ${subject}`,
      reason: 'not stored',
      subject,
    })
  }

  async put(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    await this.#content.put(nodes)
    // DURABLE: all nodes are on the database's disk; their root may be written down.
  }
}
