import type { BranchId, Hash, Ino } from '@cairn/protocol'
import type { Snapshot, Time } from '../ports/records.ts'
import { parseKey } from '../filesystem/keys.ts'
import type { Op } from '../filesystem/op.ts'
import { decodeBlock, decodeInode } from '../filesystem/values.ts'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from './stores.ts'
import type { TreeNode } from '../tree/node.ts'
import type { Nodes } from '../tree/nodes.ts'
import { type Batch, type BatchOutline, decodeInSteps, decodeOutline } from './batch.ts'

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

/** Called for a damaged batch without `node`. */
export type OnDamage = (error: unknown, node?: Hash) => void

function rethrow(error: unknown): void {
  throw error
}

/** Everything that snapshots need, each thing once however many share it. Costs the size of the trees. */
export class TreeReach {
  readonly nodes: Set<Hash> = new Set()
  readonly blobs: Set<Hash> = new Set()
  protected readonly onDamage: OnDamage
  readonly #nodes: Nodes
  readonly #step: () => Promise<void> | void

  /**
   * `step` is asked after each node, so that others get their turn. What cannot be read ends the search, unless
   * `onDamage` takes note of it and does not throw: then what it alone leads to is left out.
   */
  constructor(
    nodes: Nodes,
    step: () => Promise<void> | void = () => {},
    onDamage: OnDamage = rethrow,
  ) {
    this.#nodes = nodes
    this.#step = step
    this.onDamage = onDamage
  }

  /** Grows as long as something new is found. */
  get size(): number {
    return this.nodes.size + this.blobs.size
  }

  async addSnapshot({ root, orphans }: Snapshot): Promise<void> {
    await this.#addTree(root)
    await this.#addTree(orphans)
  }

  addBlob(id: Hash): void {
    this.blobs.add(id)
  }

  async #addTree(root: Hash): Promise<void> {
    const nodes = this.#nodes
    const waiting = [root]
    for (let hash = waiting.pop(); hash !== undefined; hash = waiting.pop()) {
      if (this.nodes.has(hash) || hash === nodes.emptyRoot) continue
      const node = await this.#load(hash)
      if (!node) continue
      this.nodes.add(hash)
      await this.#step()
      for (const { id, isBlob } of referencesOf(node))
        if (isBlob) this.blobs.add(id)
        else waiting.push(id)
    }
  }

  async #load(hash: Hash): Promise<TreeNode | undefined> {
    try {
      return await this.#nodes.load(hash)
    } catch (error) {
      this.onDamage(error, hash)
      return undefined
    }
  }
}

/** The same for branches. */
export class Reach extends TreeReach {
  readonly #stores: Stores

  constructor(stores: Stores, step?: () => Promise<void> | void, onDamage?: OnDamage) {
    super(stores.nodes, step, onDamage)
    this.#stores = stores
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
    const { base, firstBase, next, folded } = await this.#stores.refs.getBranch(id)
    const first = firstBase === undefined ? [] : [{ ...base, root: firstBase }]
    const bases = [base, ...first, ...next.map((each) => each.base)]
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

  /** Blobs that are in the log alone, and root changes that are not remembered yet. */
  async #readLog(id: BranchId, foldedSeq: number, memory: LogMemory): Promise<void> {
    for (let seq = Math.min(memory.seq, foldedSeq); ;) {
      const rows = await this.#stores.log.read(id, seq, rowsAtOnce)
      if (rows.length === 0) return
      for (const row of rows) {
        seq = row.seq
        const batch = await this.#decode(row, foldedSeq)
        if (batch && 'ops' in batch.body)
          for (const { id } of blobsOfOps(batch.body.ops)) this.blobs.add(id)
        if (seq <= memory.seq) continue
        memory.seq = seq
        if (batch?.body.type !== 'root') continue
        const { before, after } = batch.body.change
        memory.rootChanges.push({ seq, time: batch.time, before, after })
      }
    }
  }

  /** What a fold has is in no log alone. */
  async #decode(
    { bytes, seq }: LogRow,
    foldedSeq: number,
  ): Promise<Batch | BatchOutline | undefined> {
    try {
      if (seq <= foldedSeq) return decodeOutline(bytes)
      return await this.#stores.nodes.run(decodeInSteps(bytes))
    } catch (error) {
      this.onDamage(error)
      return undefined
    }
  }
}

/** What a node or a batch leads to. */
export interface RootReference {
  readonly id: Hash
  readonly isBlob: boolean
  /** The file that a blob is of. */
  readonly ino?: Ino
}

export function* referencesOf(node: TreeNode): Generator<RootReference> {
  for (let index = 0; index < node.length; index++) {
    if (node.level > 0) {
      yield { id: node.childHashAt(index), isBlob: false }
      continue
    }
    const key = parseKey(node.keyAt(index))
    if (key.type !== 'inode' && key.type !== 'block') continue
    const value = node.valueAt(index)
    const block = key.type === 'inode' ? decodeInode(value).content?.first : decodeBlock(value)
    if (block?.type === 'blob') yield { id: block.id, isBlob: true, ino: key.ino }
  }
}

/** Those that operations bring. */
export function blobsOfOps(ops: readonly Op[]): RootReference[] {
  return ops.flatMap((op) =>
    'data' in op && op.data.type === 'blob' ? [{ id: op.data.id, isBlob: true, ino: op.ino }] : [],
  )
}
