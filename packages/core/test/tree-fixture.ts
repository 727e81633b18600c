import { compareBytes, type Hash } from '@cairn/protocol'
import type { NodeStore } from '../src/ports/node-store.ts'
import { MemoryNodeStore } from '../src/testing/memory-node-store.ts'
import { applyEdits, type Edit } from '../src/tree/apply.ts'
import type { NodeEntry } from '../src/tree/encode.ts'
import { Nodes } from '../src/tree/nodes.ts'
import { scan } from '../src/tree/scan.ts'
import { sha256 } from './ports.ts'

/** Counts what is fetched, which is what a walk costs where the store is far away. */
export class CountingNodeStore implements NodeStore {
  readonly #store: NodeStore
  loads = 0
  /** Loads that began while no other was under way: how often a reader waited for the store. */
  waits = 0
  #underWay = 0

  constructor(store: NodeStore) {
    this.#store = store
  }

  get(hash: Hash): Promise<Uint8Array> {
    this.loads++
    if (this.#underWay++ === 0) this.waits++
    return this.#store.get(hash).finally(() => this.#underWay--)
  }

  put(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    return this.#store.put(nodes)
  }
}

/** A tree of any keys, each weighing as many as its value has bytes. */
export class TreeFixture {
  readonly store: MemoryNodeStore
  readonly nodes: Nodes

  constructor(nodes?: Nodes, store: MemoryNodeStore = new MemoryNodeStore()) {
    this.store = store
    this.nodes = nodes ?? new Nodes({ store, hash: sha256 })
  }

  /** In any order; the last of several with the same key counts. */
  async apply(root: Hash, edits: readonly Edit[]): Promise<Hash> {
    const sorted = edits.toSorted((a, b) => compareBytes(a.key, b.key))
    const unique = sorted.filter(
      ({ key }, i) => i === sorted.length - 1 || compareBytes(key, sorted[i + 1]!.key) !== 0,
    )
    const { root: after, created } = await applyEdits(this.nodes, root, unique, weigh)
    await this.nodes.store(created)
    return after
  }

  build(entries: readonly NodeEntry[]): Promise<Hash> {
    return this.apply(this.nodes.emptyRoot, entries)
  }

  /** With an empty cache over the same store. */
  reopen(): { readonly store: CountingNodeStore; readonly nodes: Nodes } {
    const store = new CountingNodeStore(this.store)
    return { store, nodes: new Nodes({ store, hash: sha256 }) }
  }

  level(root: Hash): number {
    return this.nodes.get(root).level
  }

  entries(root: Hash): Promise<NodeEntry[]> {
    return listOf(scan(this.nodes, root))
  }
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = []
  for await (const item of items) list.push(item)
  return list
}

export const weigh = (_key: Uint8Array, value: Uint8Array): number => value.length

export const keyOf = (n: number): Uint8Array =>
  new TextEncoder().encode(`key-${String(n).padStart(7, '0')}`)

/** Different for each `n` below 2^32, between 20 and 109 bytes. */
export function valueOf(n: number): Uint8Array {
  const value = new Uint8Array(20 + (n % 90)).fill(n % 251)
  new DataView(value.buffer).setUint32(0, n)
  return value
}

export const entryOf = (n: number): NodeEntry => ({ key: keyOf(n), value: valueOf(n) })

export function entriesOf(count: number): NodeEntry[] {
  return Array.from({ length: count }, (_, n) => entryOf(n))
}
