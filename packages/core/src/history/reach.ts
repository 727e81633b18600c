import type { BranchId, Hash } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { decodeBlock, decodeInode } from '../filesystem/values.ts'
import type { Stores } from '../ports/stores.ts'
import { type Batch, decodeBatch } from './batch.ts'

const rowsAtOnce = 256

/** Everything that snapshots and branches need, each thing once however many share it. Costs the size of the trees. */
export class Reach {
  readonly nodes: Set<Hash> = new Set()
  readonly blobs: Set<Hash> = new Set()
  readonly #stores: Stores

  constructor(stores: Stores) {
    this.#stores = stores
  }

  async addSnapshot({ root, orphans }: Snapshot): Promise<void> {
    await this.#addTree(root)
    await this.#addTree(orphans)
  }

  /**
   * What the branch stands on, its newest fold, its checkpoints and what its log says since. What a rollback left
   * stays reachable while it is the newest change of its kind, or when `keeps` says so: it may be undone.
   */
  async addBranch(id: BranchId, keeps: (batch: Batch) => boolean): Promise<void> {
    const { refs, log } = this.#stores
    const { base, folded } = await refs.getBranch(id)
    for (const snapshot of [base, folded.snapshot]) await this.addSnapshot(snapshot)
    for (const { snapshot } of await refs.listCheckpoints(id)) await this.addSnapshot(snapshot)
    let left: Snapshot | undefined
    for (let seq = 0; ;) {
      const rows = await log.read(id, seq, rowsAtOnce)
      if (rows.length === 0) break
      for (const row of rows) {
        seq = row.seq
        const batch = decodeBatch(row.bytes)
        if (batch.body.type === 'root') left = batch.body.change.before
        await this.#addBatch(batch, batch.seq > folded.seq, keeps)
      }
    }
    if (left) await this.addSnapshot(left)
  }

  addBlob(id: Hash): void {
    this.blobs.add(id)
  }

  async #addBatch(
    batch: Batch,
    isPending: boolean,
    keeps: (batch: Batch) => boolean,
  ): Promise<void> {
    const { body } = batch
    if (body.type === 'root' && (isPending || keeps(batch))) {
      await this.addSnapshot(body.change.before)
      await this.addSnapshot(body.change.after)
    }
    if (body.type !== 'ops' || !isPending) return
    for (const op of body.ops)
      if ('data' in op && op.data.type === 'blob') this.blobs.add(op.data.id)
  }

  async #addTree(root: Hash): Promise<void> {
    const { nodes } = this.#stores
    const waiting = [root]
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
      if (this.nodes.has(hash) || hash === nodes.emptyRoot) continue
      this.nodes.add(hash)
      const node = await nodes.load(hash)
      for (let index = 0; index < node.length; index++)
        if (node.level > 0) waiting.push(node.childHashAt(index))
        else this.#addEntry(node.keyAt(index), node.valueAt(index))
    }
  }

  #addEntry(key: Uint8Array, value: Uint8Array): void {
    const { type } = parseKey(key)
    if (type === 'inode') this.#addBlock(decodeInode(value).content?.first)
    if (type === 'block') this.#addBlock(decodeBlock(value))
  }

  #addBlock(block: BlockRef | undefined): void {
    if (block?.type === 'blob') this.blobs.add(block.id)
  }
}
