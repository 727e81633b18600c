import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NumberRanges } from './number-ranges.ts'

describe('number ranges', () => {
  it('ranges that touch or overlap are one', () => {
    const ranges = NumberRanges.of([
      { first: 20, end: 30 },
      { first: 1, end: 11 },
      { first: 11, end: 21 },
      { first: 40, end: 41 },
    ])
    expect(ranges.count).toBe(2)
    expect([0, 1, 10, 11, 29, 30, 39, 40, 41].map((number) => ranges.has(number))).toEqual([
      false,
      true,
      true,
      true,
      true,
      false,
      false,
      true,
      false,
    ])
    expect(NumberRanges.none.has(1)).toBe(false)
  })

  it('ten thousand neighbours, given one by one, are one range', () => {
    let ranges = NumberRanges.none
    for (let first = 0; first < 10_000; first += 10)
      ranges = ranges.with({ first, end: first + 10 })
    expect(ranges.count).toBe(1)
  })

  it('a union of number ranges has what one of them has, whatever they are', () => {
    const range = fc
      .tuple(fc.integer({ min: 0, max: 200 }), fc.integer({ min: 1, max: 20 }))
      .map(([first, count]) => ({ first, end: first + count }))
    fc.assert(
      fc.property(fc.array(range), range, (some, more) => {
        const ranges = NumberRanges.of(some).with(more)
        for (let number = 0; number < 230; number++)
          expect(ranges.has(number)).toBe(
            [...some, more].some(({ first, end }) => number >= first && number < end),
          )
      }),
    )
  })
})
