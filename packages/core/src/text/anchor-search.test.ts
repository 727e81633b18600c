import { describe, expect, it } from 'vitest'
import { AnchorSearch } from './anchor-search.ts'
import type { Box } from './box.ts'

const search = (before: number[], after: number[]): AnchorSearch =>
  new AnchorSearch(Int32Array.from(before), Int32Array.from(after), 10)
const box = (oldEnd: number, newEnd: number): Box => ({ oldStart: 0, oldEnd, newStart: 0, newEnd })

describe('findChain', () => {
  it('gives the longest ascending chain of lines that are unique on both sides', () => {
    // 9 is unique but moved; 5 is twice in the old file, 6 twice in the new one.
    const anchors = search([9, 1, 5, 2, 5, 6, 3], [1, 6, 2, 5, 3, 6, 9])
    expect(anchors.findChain(box(7, 7))).toEqual([
      { old: 1, new: 0 },
      { old: 3, new: 2 },
      { old: 6, new: 4 },
    ])
  })

  it('gives the same when asked again, and looks at its box alone', () => {
    const anchors = search([1, 2, 1], [2, 1, 1])
    expect(anchors.findChain(box(2, 2))).toEqual([{ old: 1, new: 0 }])
    expect(anchors.findChain(box(2, 2))).toEqual([{ old: 1, new: 0 }])
    expect(anchors.findChain({ oldStart: 1, oldEnd: 3, newStart: 0, newEnd: 2 })).toEqual([
      { old: 1, new: 0 },
      { old: 2, new: 1 },
    ])
  })

  it('findChain does not cut by one unique line in more than eight', () => {
    const lines = [0, 0, 0, 0, 0, 0, 0, 0, 1]
    expect(search(lines, lines).findChain(box(9, 9))).toBeUndefined()
    expect(search(lines.slice(1), lines).findChain(box(8, 9))).toEqual([{ old: 7, new: 8 }])
  })
})
