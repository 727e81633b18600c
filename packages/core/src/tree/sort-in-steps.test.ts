import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { sortInSteps } from './sort-in-steps.ts'
import { runAtOnce } from './steps.ts'

const byKey = (a: readonly [number, number], b: readonly [number, number]): number => a[0] - b[0]

describe('sorting in steps', () => {
  it('gives what toSorted gives, equal ones in their order', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 6000 }), fc.integer({ min: 1, max: 9999 }), (n, m) => {
        const items = Array.from({ length: n }, (_, i) => [(i * 7919) % m, i] as const)
        expect(runAtOnce(sortInSteps(items, byKey))).toEqual(items.toSorted(byKey))
      }),
      { numRuns: 30 },
    )
  })

  it('takes more steps for more items', () => {
    const stepsFor = (n: number): number =>
      [
        ...sortInSteps(
          Array.from({ length: n }, (_, i) => [-i, i] as const),
          byKey,
        ),
      ].length
    expect(stepsFor(0)).toBe(0)
    expect(stepsFor(100_000)).toBeGreaterThan(100)
  })
})
