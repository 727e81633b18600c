import { compareBytes, equalBytes, toByteString } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { entriesOf, keyOf, TreeFixture, valueOf, listOf } from '../../test/tree-fixture.ts'
import type { Edit } from './apply.ts'
import { type ThreeWayChange, threeWay } from './three-way.ts'

type Content = ReadonlyMap<string, Uint8Array>

/** Obviously right: look at every key of all three. */
function naiveThreeWay(base: Content, left: Content, right: Content): ThreeWayChange[] {
  const keys = [...new Set([...base.keys(), ...left.keys(), ...right.keys()])].toSorted((a, b) =>
    a < b ? -1 : 1,
  )
  return keys.flatMap((key) => {
    const sides = { base: base.get(key), left: left.get(key), right: right.get(key) }
    const byLeft = !same(sides.base, sides.left)
    const byRight = !same(sides.base, sides.right)
    if (!byLeft && !byRight) return []
    const changedBy = byLeft && byRight ? 'both' : byLeft ? 'left' : 'right'
    return [{ key: Uint8Array.from(key, (c) => c.charCodeAt(0)), ...sides, changedBy }]
  })
}

function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a === b || (a !== undefined && b !== undefined && equalBytes(a, b))
}

const edits: fc.Arbitrary<Edit[]> = fc
  .array(fc.tuple(fc.nat(1300), fc.option(fc.nat(3), { nil: undefined })), { maxLength: 200 })
  .map((pairs) =>
    pairs.map(([n, value]) => ({
      key: keyOf(n),
      value: value === undefined ? undefined : valueOf(value),
    })),
  )

describe('three-way walk', () => {
  it('lists what two naive diffs find, in order', async () => {
    const tree = new TreeFixture()
    const start = await tree.build(entriesOf(1000))
    await fc.assert(
      fc.asyncProperty(edits, edits, edits, async (before, byLeft, byRight) => {
        const base = await tree.apply(start, before)
        const left = await tree.apply(base, byLeft)
        const right = await tree.apply(base, byRight)
        const walked = await listOf(threeWay(tree.nodes, base, left, right))
        const [a, b, c] = await Promise.all(
          [base, left, right].map(
            async (root): Promise<Content> =>
              new Map(
                (await tree.entries(root)).map(({ key, value }) => [toByteString(key), value]),
              ),
          ),
        )
        expect(walked).toEqual(naiveThreeWay(a!, b!, c!))
        for (let i = 1; i < walked.length; i++)
          expect(compareBytes(walked[i - 1]!.key, walked[i]!.key)).toBeLessThan(0)
      }),
      { numRuns: 60 },
    )
  })

  it('an added, a removed and an unchanged tree', async () => {
    const tree = new TreeFixture()
    const { emptyRoot } = tree.nodes
    const full = await tree.build(entriesOf(500))
    const walk = (...roots: [typeof full, typeof full, typeof full]): Promise<ThreeWayChange[]> =>
      listOf(threeWay(tree.nodes, ...roots))
    expect(await walk(full, full, full)).toEqual([])
    expect(await walk(emptyRoot, emptyRoot, emptyRoot)).toEqual([])
    const added = await walk(emptyRoot, full, full)
    expect(added.length).toBe(500)
    expect(added.every(({ base, changedBy }) => !base && changedBy === 'both')).toBe(true)
    const removed = await walk(full, emptyRoot, full)
    expect(removed.length).toBe(500)
    expect(
      removed.every(({ left, right, changedBy }) => !left && right && changedBy === 'left'),
    ).toBe(true)
  })

  it('one change on each side of 100,000 entries: a few nodes are loaded', async () => {
    const tree = new TreeFixture()
    const base = await tree.build(entriesOf(100_000))
    const left = await tree.apply(base, [{ key: keyOf(20_000), value: valueOf(1) }])
    const right = await tree.apply(base, [{ key: keyOf(80_000), value: undefined }])
    const { nodes, store } = tree.reopen()
    const walked = await listOf(threeWay(nodes, base, left, right))
    expect(walked.map(({ changedBy }) => changedBy)).toEqual(['left', 'right'])
    expect(store.loads).toBeLessThanOrEqual(2 * 2 * 3 * 2)
  })
})
