import { describe, expect, it } from 'vitest'
import { diffTokens } from './line-diff.ts'
import { mergeRegions } from './merge-regions.ts'

/** One letter is one line. The outcome of each region, with the lines that the base had there. */
function outcomes(base: string, ours: string, theirs: string): string[] {
  const [baseTokens, oursTokens, theirsTokens] = [base, ours, theirs].map((letters) =>
    Int32Array.from(letters, (letter) => letter.charCodeAt(0)),
  ) as [Int32Array, Int32Array, Int32Array]
  const regions = mergeRegions(
    { hunks: diffTokens(baseTokens, oursTokens, 128), tokens: oursTokens },
    { hunks: diffTokens(baseTokens, theirsTokens, 128), tokens: theirsTokens },
  )
  return regions.map(
    ({ outcome, baseStart, baseLength }) =>
      `${outcome} ${base.slice(baseStart, baseStart + baseLength)}@${baseStart}`,
  )
}

describe('mergeRegions', () => {
  it.each([
    ['one side changes a line', 'abc', 'axc', 'abc', ['ours b@1']],
    ['the other side changes a line', 'abc', 'abc', 'axc', ['theirs b@1']],
    ['one line lies between two changes', 'abc', 'xbc', 'aby', ['ours a@0', 'theirs c@2']],
    ['two changed lines touch', 'abcd', 'axcd', 'abyd', ['conflict bc@1']],
    ['a changed line touches an addition', 'abc', 'xbc', 'aybc', ['conflict a@0']],
    ['a removal touches an addition', 'abc', 'ac', 'abyc', ['conflict b@1']],
    ['two removals touch', 'abcd', 'acd', 'abd', ['conflict bc@1']],
    ['both remove the same line', 'abc', 'ac', 'ac', ['both b@1']],
    ['one removes what the other removes a part of', 'abcd', 'ad', 'acd', ['conflict bc@1']],
    ['both add the same', 'ab', 'axb', 'axb', ['both @1']],
    ['both add at the same place', 'ab', 'axb', 'ayb', ['conflict @1']],
    ['both add to nothing', '', 'x', 'y', ['conflict @0']],
    ['both add the same, and one more beside it', 'ab', 'axb', 'axyb', ['conflict @1']],
    ['one removes all, one adds', 'ab', '', 'abx', ['conflict ab@0']],
    ['a chain of touching changes is one region', 'abcde', 'xbzde', 'aycwe', ['conflict abcd@0']],
    ['a change of both before a change of one', 'abc', 'xbc', 'xby', ['both a@0', 'theirs c@2']],
  ])('%s', (_, base, ours, theirs, expected) => {
    expect(outcomes(base, ours, theirs)).toEqual(expected)
  })

  it('gives the ranges of a region in all three files', () => {
    const tokens = (...lines: number[]): Int32Array => Int32Array.from(lines)
    const base = tokens(0, 1, 2, 3, 4)
    const ours = tokens(7, 0, 1, 8, 8, 3, 4)
    const theirs = tokens(0, 1, 9, 4)
    const regions = mergeRegions(
      { hunks: diffTokens(base, ours, 10), tokens: ours },
      { hunks: diffTokens(base, theirs, 10), tokens: theirs },
    )
    expect(regions).toEqual([
      {
        outcome: 'ours',
        baseStart: 0,
        baseLength: 0,
        oursStart: 0,
        oursLength: 1,
        theirsStart: 0,
        theirsLength: 0,
      },
      {
        outcome: 'conflict',
        baseStart: 2,
        baseLength: 2,
        oursStart: 3,
        oursLength: 3,
        theirsStart: 2,
        theirsLength: 1,
      },
    ])
  })
})
