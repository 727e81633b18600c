import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Hash } from '@cairn/protocol'
import { entriesOf, keyOf, TreeFixture, valueOf, listOf } from '../../test/tree-fixture.ts'
import type { Edit } from './apply.ts'
import { endsNode } from './chunker.ts'
import { diff } from './diff.ts'
import { encodeNode } from './encode.ts'
import { findValue, rank } from './lookup.ts'
import { openNode } from './node.ts'

const count = 100_000
const tree = new TreeFixture()
let root: Hash

beforeAll(async () => {
  root = await tree.build(entriesOf(count))
})

describe('a tree of 100,000 entries', () => {
  it('a tree of 100,000 entries has three levels', () => {
    expect(tree.level(root)).toBe(2)
  })

  it('edited at random: the root is that of a tree built anew', async () => {
    // Places all over the tree, and in clusters: a cluster moves the ends of whole nodes.
    const place = fc.oneof(
      fc.nat(count + 500),
      fc.nat(300),
      fc.nat(300).map((n) => 50_000 + n),
    )
    const edit = fc.tuple(place, fc.option(fc.nat(1_000_000), { nil: undefined }))
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(edit, { maxLength: 400, size: 'max' }), { minLength: 1, maxLength: 3 }),
        async (batches) => {
          const wanted = new Map(Array.from({ length: count }, (_, n) => [n, n]))
          let edited = root
          for (const batch of batches) {
            for (const [place, value] of batch)
              if (value === undefined) wanted.delete(place)
              else wanted.set(place, value)
            edited = await tree.apply(edited, batch.map(editOf))
          }
          const entries = [...wanted].map(([key, value]) => editOf([key, value]) as Entry)
          expect(edited).toBe(await tree.build(entries))
        },
      ),
      { numRuns: 5 },
    )
  })

  it('grown from nothing and shrunk to nothing in pieces: every root is canonical', async () => {
    const all = entriesOf(50_000)
    let grown = tree.nodes.emptyRoot
    // From the right to the left, so that every piece goes in before the others.
    for (let at = 40_000; at >= 0; at -= 10_000)
      grown = await tree.apply(grown, all.slice(at, at + 10_000))
    expect(tree.level(grown)).toBe(2)
    expect(grown).toBe(await tree.build(all))
    const odd = all.filter((_, i) => i % 2 === 1)
    const removed = (entries: readonly Edit[]): Edit[] =>
      entries.map(({ key }) => ({ key, value: undefined }))
    let shrunk = await tree.apply(grown, removed(all.filter((_, i) => i % 2 === 0)))
    expect(shrunk).toBe(await tree.build(odd))
    shrunk = await tree.apply(shrunk, removed(odd.slice(3)))
    expect(shrunk).toBe(await tree.build(odd.slice(0, 3)))
    expect(tree.level(shrunk)).toBe(0)
    expect(await tree.apply(shrunk, removed(odd))).toBe(tree.nodes.emptyRoot)
  })

  it('counts below a key without reading what it counts', async () => {
    const { nodes, store } = tree.reopen()
    for (const n of [0, 1, 777, 50_000, count - 1])
      expect(await nodes.read(() => rank(nodes, root, keyOf(n)))).toBe(n)
    expect(store.loads).toBeLessThanOrEqual(5 * 3)
  })

  it('finds one entry with one node of each level', async () => {
    const { nodes, store } = tree.reopen()
    expect(await nodes.read(() => findValue(nodes, root, keyOf(61_803)))).toEqual(valueOf(61_803))
    expect(store.loads).toBe(3)
  })
})

describe('diff of a tree of 100,000 entries', () => {
  it.each([
    ['first', 0],
    ['middle', 50_000],
    ['last', count - 1],
  ])('one value changed, the %s: a few nodes of each level are loaded', async (_, n) => {
    const after = await tree.apply(root, [{ key: keyOf(n), value: valueOf(n + 1) }])
    expect(await costOfDiff(root, after)).toEqual({ changes: 1, isCheap: true })
  })

  it('one entry added or removed in the middle: a few nodes of each level are loaded', async () => {
    const added = new TextEncoder().encode('key-0050000a')
    const more = await tree.apply(root, [{ key: added, value: valueOf(1) }])
    const less = await tree.apply(root, [{ key: keyOf(50_000), value: undefined }])
    expect(await costOfDiff(root, more)).toEqual({ changes: 1, isCheap: true })
    expect(await costOfDiff(less, root)).toEqual({ changes: 1, isCheap: true })
  })

  it('values changed all over it: what differs below a node is loaded at once', async () => {
    const edits = Array.from({ length: 500 }, (_, i) => ({
      key: keyOf(i * 200),
      value: valueOf(i * 200 + 1),
    }))
    const after = await tree.apply(root, edits)
    const { nodes, store } = tree.reopen()
    expect((await listOf(diff(nodes, root, after))).length).toBe(500)
    expect(store.loads).toBeGreaterThan(2 * 500)
    // The two roots, all below them, and all below each of the nodes there.
    expect(store.waits).toBe(2 + 1 + nodes.get(root).length)
  })

  it('equal roots: nothing is loaded', async () => {
    const { nodes, store } = tree.reopen()
    expect(await listOf(diff(nodes, root, root))).toEqual([])
    expect(store.loads).toBe(0)
  })

  it('against a tree of another height: lists what only one of them has', async () => {
    const small = await tree.build(entriesOf(300))
    let added = 0
    for await (const { before } of diff(tree.nodes, small, root)) added += before ? 0 : 1
    expect(added).toBe(count - 300)
  })
})

describe('nodes', () => {
  it('nodes of the tree are 3 to 5 KiB on average, and none is above the limit', () => {
    const [leaves, inner] = sizesByLevel(root)
    expect(mean(leaves!)).toBeGreaterThan(3 * 1024)
    expect(mean(leaves!)).toBeLessThan(5 * 1024)
    // Hashes do not share prefixes, but there are few of them: the last node, cut by the end, weighs in.
    expect(mean(inner!)).toBeGreaterThan(2.5 * 1024)
    expect(mean(inner!)).toBeLessThan(5 * 1024)
    expect(Math.max(...leaves!, ...inner!)).toBeLessThan(bytesMax)
  })

  it('keys chosen so that they end no node of 9 KiB: cut at the limit at the latest', async () => {
    const entries = entriesOf(40_000).filter(({ key }) => !endsNode(key, 0, 9000))
    const [leaves] = sizesByLevel(await tree.build(entries))
    expect(mean(leaves!.slice(0, -1))).toBeGreaterThan(7 * 1024)
    expect(Math.max(...leaves!)).toBeLessThan(bytesMax)
  })

  it('one entry above the limit: a node with nothing behind it', async () => {
    const large = { key: keyOf(500), value: new Uint8Array(3 * bytesMax) }
    const sizes = sizesByLevel(await tree.build([...entriesOf(1000), large]))[0]!
    const above = sizes.filter((size) => size >= bytesMax)
    expect(above.length).toBe(1)
    expect(above[0]).toBeLessThan(large.value.length + bytesMax)
  })

  it('a value above 64 KiB: a wide node, and the tree is as canonical', async () => {
    const lengths = [0xff00, 0xffff, 0x10000, 0x10001, 200_000]
    const large = lengths.map((length, i) => ({
      key: keyOf(i * 100 + 7),
      value: new Uint8Array(length).fill(i + 1),
    }))
    const some = entriesOf(1000)
    const wide = await tree.apply(await tree.build(some), large)
    const merged = new Map(some.map((entry, n) => [n, entry]))
    large.forEach((entry, i) => merged.set(i * 100 + 7, entry))
    expect(wide).toBe(await tree.build([...merged.values()]))
    expect(await tree.entries(wide)).toEqual([...merged.values()])
    for (const { key, value } of large) expect(findValue(tree.nodes, wide, key)).toEqual(value)
    const back = await tree.apply(wide, some)
    expect(back).toBe(await tree.build(some))
  })

  it('nodes at both ends are wide enough, also at the border', () => {
    const key = keyOf(1)
    const bodyOf = (length: number): Uint8Array =>
      encodeNode(0, [{ key, value: new Uint8Array(length) }])
    // One entry: its key is the prefix, and its suffix is a length byte alone.
    const [narrow, wide] = [bodyOf(0xfffe), bodyOf(0xffff)]
    expect([narrow[1], wide[1]]).toEqual([0, 0x80])
    expect(wide.length - narrow.length).toBe(3)
    for (const bytes of [narrow, wide])
      expect(openNode(bytes, tree.nodes.hash(bytes)).keyAt(0)).toEqual(key)
  })
})

type Entry = Edit & { readonly value: Uint8Array }

const bytesMax = 16_384

function editOf([place, value]: readonly [number, number | undefined]): Edit {
  return { key: keyOf(place), value: value === undefined ? undefined : valueOf(value) }
}

async function costOfDiff(
  before: Hash,
  after: Hash,
): Promise<{ changes: number; isCheap: boolean }> {
  const { nodes, store } = tree.reopen()
  const changes = await listOf(diff(nodes, before, after))
  // Both sides, three levels; a cut that moved touches its neighbours.
  return { changes: changes.length, isCheap: store.loads <= 2 * 3 * 3 }
}

function sizesByLevel(top: Hash): number[][] {
  const sizes: number[][] = []
  const visit = (hash: Hash): void => {
    const node = tree.nodes.get(hash)
    ;(sizes[node.level] ??= []).push(node.bytes.length)
    for (let i = 0; i < node.length && node.level > 0; i++) visit(node.childHashAt(i))
  }
  visit(top)
  return sizes
}

function mean(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0) / numbers.length
}
