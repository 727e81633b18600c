import { formatHash, type Hash, isCairnError } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../test/ports.ts'
import {
  CountingNodeStore,
  entriesOf,
  entryOf,
  keyOf,
  TreeFixture,
  valueOf,
  listOf,
} from '../../test/tree-fixture.ts'
import { diff } from './diff.ts'
import { findValue, range } from './lookup.ts'
import { NodeMiss } from './node-miss.ts'
import { Nodes } from './nodes.ts'
import { scan } from './scan.ts'

describe('a cache that holds next to nothing', () => {
  const open = (tree: TreeFixture, cacheBytesMax: number): Nodes =>
    new Nodes({ store: tree.store, hash: sha256, cacheBytesMax })

  it.each([0, 1, 5000])('a cache of %i bytes answers every read', async (bytes) => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(3000))
    const nodes = open(tree, bytes)
    for (const n of [0, 1500, 2999])
      expect(await nodes.read(() => findValue(nodes, root, keyOf(n)))).toEqual(valueOf(n))
    // One synchronous read that needs all nodes at the same time.
    const all = await nodes.read(() => [...range(nodes, root, keyOf(0), keyOf(9999))])
    expect(all.length).toBe(3000)
    expect((await listOf(scan(nodes, root))).length).toBe(3000)
  })

  it('several reads at once do not take nodes from each other', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(3000))
    const nodes = open(tree, 0)
    const parts = await Promise.all(
      [0, 1000, 2000].map((from) =>
        nodes.read(() => [...range(nodes, root, keyOf(from), keyOf(from + 1000))]),
      ),
    )
    expect(parts.map(({ length }) => length)).toEqual([1000, 1000, 1000])
  })

  it('edits and diffs come out the same', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(3000))
    const small = new TreeFixture(open(tree, 0), tree.store)
    const edits = [entryOf(5000), { key: keyOf(7), value: undefined }]
    const edited = await small.apply(root, edits)
    expect(edited).toBe(await tree.apply(root, edits))
    const changes = await listOf(diff(open(tree, 0), root, edited))
    expect(changes.map(({ key }) => key)).toEqual([keyOf(7), keyOf(5000)])
  })
})

describe('nodes', () => {
  it('a node that is not in memory is missed, and says which', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(10))
    const { nodes } = tree.reopen()
    expect(nodes.peek(root)).toBe(undefined)
    let missed: unknown
    try {
      nodes.get(root)
    } catch (miss) {
      missed = miss
    }
    expect(missed).toEqual(new NodeMiss([root]))
    await nodes.load(root)
    expect(nodes.get(root).length).toBe(10)
  })

  it('loads of one node at the same time are one fetch', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(10))
    const { nodes, store } = tree.reopen()
    await Promise.all([nodes.load(root), nodes.load(root), nodes.load(root)])
    expect(store.loads).toBe(1)
  })

  it('a fetch that failed is tried again', async () => {
    const tree = new TreeFixture()
    const root = await tree.build(entriesOf(10))
    const bytes = tree.store.nodes.get(root)!
    tree.store.nodes.delete(root)
    const { nodes } = tree.reopen()
    expect(await codeOf(nodes.load(root))).toEqual(['node_missing', formatHash(root)])
    tree.store.nodes.set(root, bytes)
    expect((await nodes.load(root)).length).toBe(10)
  })

  it('the empty tree is there without being stored', async () => {
    const { nodes, store } = new TreeFixture().reopen()
    expect(nodes.get(nodes.emptyRoot).length).toBe(0)
    expect(await listOf(scan(nodes, nodes.emptyRoot))).toEqual([])
    expect(findValue(nodes, nodes.emptyRoot, keyOf(1))).toBe(undefined)
    expect(store.loads).toBe(0)
  })

  it('storing nothing asks nothing of the store', async () => {
    const store = new CountingNodeStore({
      get: () => Promise.reject(new Error('get')),
      put: () => Promise.reject(new Error('put')),
    })
    await new Nodes({ store, hash: sha256 }).store(new Map<Hash, Uint8Array>())
    expect(store.loads).toBe(0)
  })

  it('an error that is no miss ends a read', async () => {
    const { nodes } = new TreeFixture()
    const failing = nodes.read(() => {
      throw new TypeError('not a miss')
    })
    await expect(failing).rejects.toThrow('not a miss')
  })
})

async function codeOf(promise: Promise<unknown>): Promise<unknown[]> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return isCairnError(error) ? [error.code, error.subject] : [error]
}
