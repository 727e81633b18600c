import { compareBytes, type Hash } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sha256 } from '../../test/ports.ts'
import { MemoryNodeStore } from '../testing/memory-node-store.ts'
import { applyEdits, type Edit } from './apply.ts'
import { diff } from './diff.ts'
import { findValue, range, rank } from './lookup.ts'
import { Nodes } from './nodes.ts'
import { scan } from './scan.ts'

const weigh = (_key: Uint8Array, value: Uint8Array): number => value.length

class Fixture {
  readonly store = new MemoryNodeStore()
  readonly nodes = new Nodes({ store: this.store, hash: sha256 })

  async apply(root: Hash, edits: readonly Edit[]): Promise<Hash> {
    const applied = await applyEdits(this.nodes, root, edits, weigh)
    await this.nodes.store(applied.created)
    return applied.root
  }
}

type Content = ReadonlyMap<number, number>

const keyOf = (n: number): Uint8Array =>
  new TextEncoder().encode(`key-${String(n).padStart(6, '0')}`)
const valueOf = (n: number): Uint8Array => new Uint8Array(20 + (n % 90)).fill(n % 251)

function editsBetween(before: Content, after: Content): Edit[] {
  const edits: Edit[] = []
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const value = after.get(key)
    if (value !== before.get(key))
      edits.push({ key: keyOf(key), value: value === undefined ? undefined : valueOf(value) })
  }
  return edits.sort((a, b) => compareBytes(a.key, b.key))
}

const contents = fc
  .array(fc.tuple(fc.nat(900), fc.nat(400)), { maxLength: 900 })
  .map((pairs): Content => new Map(pairs))

describe('tree', () => {
  it('the same entries give the same root, whatever the history', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(contents, { minLength: 1, maxLength: 4 }), async (history) => {
        const tree = new Fixture()
        let root = tree.nodes.emptyRoot
        let now: Content = new Map()
        for (const next of history) {
          root = await tree.apply(root, editsBetween(now, next))
          now = next
        }
        const fresh = await new Fixture().apply(
          root === undefined ? root : tree.nodes.emptyRoot,
          editsBetween(new Map(), now),
        )
        expect(root).toBe(fresh)
      }),
      { numRuns: 60 },
    )
  })

  it('one edit at a time gives the root of all at once', async () => {
    const tree = new Fixture()
    const all: Content = new Map(Array.from({ length: 700 }, (_, n) => [(n * 37) % 701, n]))
    let root = tree.nodes.emptyRoot
    for (const [key, value] of all)
      root = await tree.apply(root, [{ key: keyOf(key), value: valueOf(value) }])
    expect(root).toBe(await tree.apply(tree.nodes.emptyRoot, editsBetween(new Map(), all)))
    for (const key of all.keys())
      root = await tree.apply(root, [{ key: keyOf(key), value: undefined }])
    expect(root).toBe(tree.nodes.emptyRoot)
  })

  it('finds, counts and scans what was put in', async () => {
    await fc.assert(
      fc.asyncProperty(contents, fc.nat(900), fc.nat(900), async (content, a, b) => {
        const tree = new Fixture()
        const root = await tree.apply(tree.nodes.emptyRoot, editsBetween(new Map(), content))
        const [from, to] = a < b ? [a, b] : [b, a]
        const inside = [...content.keys()].filter((n) => n >= from && n < to).sort((x, y) => x - y)
        const wanted = inside.map((n) => ({ key: keyOf(n), value: valueOf(content.get(n)!) }))
        expect([...range(tree.nodes, root, keyOf(from), keyOf(to))]).toEqual(wanted)
        const scanned = []
        for await (const entry of scan(tree.nodes, root, keyOf(from), keyOf(to)))
          scanned.push(entry)
        expect(scanned).toEqual(wanted)
        expect(rank(tree.nodes, root, keyOf(from))).toBe(
          [...content.keys()].filter((n) => n < from).length,
        )
        expect(findValue(tree.nodes, root, keyOf(a))).toEqual(
          content.has(a) ? valueOf(content.get(a)!) : undefined,
        )
      }),
      { numRuns: 60 },
    )
  })

  it('diff lists exactly the keys whose values differ', async () => {
    await fc.assert(
      fc.asyncProperty(contents, contents, async (before, after) => {
        const tree = new Fixture()
        const a = await tree.apply(tree.nodes.emptyRoot, editsBetween(new Map(), before))
        const b = await tree.apply(tree.nodes.emptyRoot, editsBetween(new Map(), after))
        const found: Edit[] = []
        for await (const change of diff(tree.nodes, a, b))
          found.push({ key: change.key, value: change.after })
        const distinct = editsBetween(before, after).filter((edit) => {
          const n = Number(new TextDecoder().decode(edit.key).slice(4))
          const [x, y] = [before.get(n), after.get(n)]
          return x === undefined || y === undefined || compareBytes(valueOf(x), valueOf(y)) !== 0
        })
        expect(found).toEqual(distinct)
      }),
      { numRuns: 80 },
    )
  })
})
