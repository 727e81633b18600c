import type { BranchId, Hash } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { Time } from '../filesystem/inode.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Op } from '../filesystem/op.ts'
import type { Snapshot } from '../filesystem/tree-view.ts'
import { decodeBlock, decodeInode } from '../filesystem/values.ts'
import type { Stores } from '../ports/stores.ts'
import { decodeBatch } from './batch.ts'

const rowsAtOnce = 256

/** What has been read of a log, which only grows: where to go on, and which trees the branch was put on. */
export interface LogMemory {
  seq: number
  readonly rootChanges: {
    readonly seq: number
    readonly time: Time
    readonly before: Snapshot
    readonly after: Snapshot
  }[]
}

export function newLogMemory(): LogMemory {
  return { seq: 0, rootChanges: [] }
}

/** Everything that snapshots and branches need, each thing once however many share it. Costs the size of the trees. */
export class Reach {
  readonly nodes: Set<Hash> = new Set()
  readonly blobs: Set<Hash> = new Set()
  readonly #stores: Stores

  readonly #step: () => Promise<void> | void

  /** `step` is asked after each node, so that others get their turn. */
  constructor(stores: Stores, step: () => Promise<void> | void = () => {}) {
    this.#stores = stores
    this.#step = step
  }

  /** Grows as long as something new is found. */
  get size(): number {
    return this.nodes.size + this.blobs.size
  }

  async addSnapshot({ root, orphans }: Snapshot): Promise<void> {
    await this.#addTree(root)
    await this.#addTree(orphans)
  }

  /**
   * What the branch stands on or is about to, its newest fold, its checkpoints and what its log says since. What a rollback left
   * stays reachable while it is the newest change of its kind, or when `keeps` says so: it may be undone. With a
   * memory of the log, only what came since is read.
   */
  async addBranch(
    id: BranchId,
    keeps: (time: Time) => boolean,
    memory: LogMemory = newLogMemory(),
  ): Promise<void> {
    const { base, next, folded } = await this.#stores.refs.getBranch(id)
    const bases = [base, ...next.map((each) => each.base)]
    for (const snapshot of [...bases, folded.snapshot]) await this.addSnapshot(snapshot)
    for (const { snapshot } of await this.#stores.refs.listCheckpoints(id))
      await this.addSnapshot(snapshot)
    await this.#readLog(id, folded.seq, memory)
    for (const { seq, time, before, after } of memory.rootChanges)
      if (seq > folded.seq || keeps(time))
        for (const snapshot of [before, after]) await this.addSnapshot(snapshot)
    const newest = memory.rootChanges.at(-1)
    if (newest) await this.addSnapshot(newest.before)
  }

  addBlob(id: Hash): void {
    this.blobs.add(id)
  }

  /** Blobs that are in the log alone, and root changes that are not remembered yet. */
  async #readLog(id: BranchId, foldedSeq: number, memory: LogMemory): Promise<void> {
    for (let seq = Math.min(memory.seq, foldedSeq); ;) {
      const rows = await this.#stores.log.read(id, seq, rowsAtOnce)
      if (rows.length === 0) return
      for (const row of rows) {
        seq = row.seq
        const { body, time } = decodeBatch(row.bytes)
        if (body.type === 'ops' && seq > foldedSeq) this.#addOps(body.ops)
        if (seq <= memory.seq) continue
        memory.seq = seq
        if (body.type !== 'root') continue
        const { before, after } = body.change
        memory.rootChanges.push({ seq, time, before, after })
      }
    }
  }

  #addOps(ops: readonly Op[]): void {
    for (const op of ops) if ('data' in op && op.data.type === 'blob') this.blobs.add(op.data.id)
  }

  async #addTree(root: Hash): Promise<void> {
    const { nodes } = this.#stores
    const waiting = [root]
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
      if (this.nodes.has(hash) || hash === nodes.emptyRoot) continue
      const node = await nodes.load(hash)
      this.nodes.add(hash)
      await this.#step()
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
