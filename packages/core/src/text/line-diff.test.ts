import { concatBytes } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Hunk } from './hunk.ts'
import { diffLines, diffTokens } from './line-diff.ts'
import { lineBytes, splitLines } from './lines.ts'

function applyHunks(hunks: readonly Hunk[], before: Uint8Array, after: Uint8Array): Uint8Array {
  const [old, next] = [splitLines(before), splitLines(after)]
  const parts: Uint8Array[] = []
  let at = 0
  for (const hunk of hunks) {
    parts.push(lineBytes(old, at, hunk.oldStart - at))
    parts.push(lineBytes(next, hunk.newStart, hunk.newLength))
    at = hunk.oldStart + hunk.oldLength
  }
  return concatBytes([...parts, lineBytes(old, at, old.count - at)])
}

/** One comparison in the end: a diff has up to 66,667 hunks here. */
function checkInvariants(hunks: readonly Hunk[]): void {
  let oldEnd = 0
  let newEnd = 0
  const broken = hunks.filter((hunk, i) => {
    const gap = hunk.oldStart - oldEnd
    const isRight =
      hunk.oldLength + hunk.newLength > 0 &&
      gap >= (i === 0 ? 0 : 1) &&
      gap === hunk.newStart - newEnd
    oldEnd = hunk.oldStart + hunk.oldLength
    newEnd = hunk.newStart + hunk.newLength
    return !isRight
  })
  expect(broken).toEqual([])
}

const diffBytes = (before: Uint8Array, after: Uint8Array): Hunk[] =>
  diffLines(splitLines(before), splitLines(after))

/** Right, whatever the length: applied to the old file, the hunks make the new one. */
function expectRight(before: Uint8Array, after: Uint8Array): Hunk[] {
  const hunks = diffBytes(before, after)
  checkInvariants(hunks)
  // Not toEqual: comparing megabytes element by element would take longer than the diff.
  expect(Buffer.compare(applyHunks(hunks, before, after), after)).toBe(0)
  return hunks
}

const changedLines = (hunks: readonly Hunk[]): number =>
  hunks.reduce((sum, hunk) => sum + hunk.oldLength + hunk.newLength, 0)

/** Longest common subsequence by the table of the textbook. */
function longestCommon<T>(a: readonly T[], b: readonly T[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0)
  for (const x of a) {
    const next = [0]
    b.forEach((y, j) => next.push(x === y ? row[j]! + 1 : Math.max(row[j + 1]!, next[j]!)))
    row = next
  }
  return row[b.length]!
}

const text = (lines: readonly (string | number)[]): Uint8Array =>
  new TextEncoder().encode(lines.map((line) => `${line}\n`).join(''))

/** The same numbers in every run: below `bound`, and unrelated enough. */
function pseudoRandom(seed: number): (bound: number) => number {
  let state = seed
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * bound)
  }
}

function shuffled(count: number, seed: number): number[] {
  const random = pseudoRandom(seed)
  const order = Array.from({ length: count }, (_, i) => i)
  for (let i = count - 1; i > 0; i--) {
    const j = random(i + 1)
    ;[order[i], order[j]] = [order[j]!, order[i]!]
  }
  return order
}

const fewLetters = fc
  .integer({ min: 1, max: 6 })
  .chain((max) =>
    fc.tuple(
      fc.array(fc.nat({ max }), { maxLength: 24 }),
      fc.array(fc.nat({ max }), { maxLength: 24 }),
    ),
  )
/** Bytes rich in line ends, CR, NUL and bytes that are no UTF-8. */
const anyFile = fc
  .array(fc.constantFrom(10, 10, 10, 13, 97, 98, 0, 255), { maxLength: 40 })
  .map((bytes) => Uint8Array.from(bytes))

describe('diffLines', () => {
  it('finds nothing between equal files', () => {
    fc.assert(
      fc.property(anyFile, (file) => {
        expect(diffBytes(file, file)).toEqual([])
      }),
    )
  })

  it('makes the new file of the old one', () => {
    fc.assert(
      fc.property(anyFile, anyFile, (before, after) => void expectRight(before, after)),
      {
        numRuns: 500,
      },
    )
  })

  it('changes as few lines as possible', () => {
    fc.assert(
      fc.property(fewLetters, ([before, after]) => {
        const hunks = expectRight(text(before), text(after))
        const common = longestCommon(before, after)
        expect(changedLines(hunks)).toBe(before.length + after.length - 2 * common)
      }),
      { numRuns: 1000 },
    )
  })

  it('knows empty files and files of newlines', () => {
    expect(diffBytes(text([]), text([]))).toEqual([])
    expect(diffBytes(text([]), text(['']))).toEqual([
      { oldStart: 0, oldLength: 0, newStart: 0, newLength: 1 },
    ])
    expect(diffBytes(text(['', '', '']), text(['']))).toEqual([
      { oldStart: 1, oldLength: 2, newStart: 1, newLength: 0 },
    ])
  })

  it('sees a lost last newline and a change of line ends as changes', () => {
    const [complete, incomplete, crlf] = ['a\nb\n', 'a\nb', 'a\nb\r\n'].map((it) =>
      new TextEncoder().encode(it),
    ) as [Uint8Array, Uint8Array, Uint8Array]
    const lastLine = [{ oldStart: 1, oldLength: 1, newStart: 1, newLength: 1 }]
    expect(diffBytes(complete, incomplete)).toEqual(lastLine)
    expect(diffBytes(complete, crlf)).toEqual(lastLine)
  })

  it('takes one very long line for a line', () => {
    const long = 'x'.repeat(2 ** 20)
    expect(changedLines(expectRight(text(['a', long, 'b']), text(['a', `${long}y`, 'b'])))).toBe(2)
  })
})

describe('large differences', () => {
  it('up to a thousand edits: still as few lines as possible', () => {
    const random = pseudoRandom(1)
    const before = Array.from({ length: 1200 }, () => random(4))
    const after = before.map((line) => (random(3) === 0 ? random(4) : line))
    const least = before.length + after.length - 2 * longestCommon(before, after)
    expect(least).toBeGreaterThan(300)
    expect(changedLines(expectRight(text(before), text(after)))).toBe(least)
  })

  it('unique lines in another order: the longest ascending chain stays', () => {
    const order = shuffled(3000, 2)
    const sorted = order.toSorted((a, b) => a - b)
    const least = 2 * (3000 - longestCommon(sorted, order))
    expect(least).toBeGreaterThan(5000)
    expect(changedLines(expectRight(text(sorted), text(order)))).toBe(least)
  })

  it('repeated lines with many edits: right, and not much longer than need be', () => {
    const random = pseudoRandom(3)
    const before = Array.from({ length: 2500 }, () => random(3))
    const after = Array.from({ length: 2500 }, () => random(3))
    const least = 5000 - 2 * longestCommon(before, after)
    expect(least).toBeGreaterThan(1100)
    expect(changedLines(expectRight(text(before), text(after)))).toBeLessThan(least * 1.25)
  })

  const lines = 200_000
  const numbered = Array.from({ length: lines }, (_, i) => i)
  const someOf = (bound: number, seed: number): number[] => {
    const random = pseudoRandom(seed)
    return numbered.map(() => random(bound))
  }
  it.each([
    ['nothing in common', numbered, numbered.map((line) => `not ${line}`)],
    ['all lines in another order', numbered, shuffled(lines, 4)],
    ['two kinds of line at random', someOf(2, 5), someOf(2, 6)],
    ['a thousand kinds of line at random', someOf(1000, 7), someOf(1000, 8)],
    ['two periods', numbered.map((i) => i % 2), numbered.map((i) => i % 3)],
  ])('200,000 lines, %s: right and soon', { timeout: 10_000 }, (_, before, after) => {
    expectRight(text(before), text(after))
  })
})

describe('diffTokens', () => {
  it('diffTokens is the same diff for lines that are interned already', () => {
    expect(diffTokens(Int32Array.of(0, 1, 2), Int32Array.of(0, 2), 3)).toEqual([
      { oldStart: 1, oldLength: 1, newStart: 1, newLength: 0 },
    ])
  })
})
