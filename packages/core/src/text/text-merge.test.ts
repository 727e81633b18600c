import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { textLinesMax, textMergeBytesMax } from './lines.ts'
import { mergeText, type TextMerge } from './text-merge.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const merge = (base: string, ours: string, theirs: string): TextMerge =>
  mergeText(bytes(base), bytes(ours), bytes(theirs))
const merged = (text: string): TextMerge => ({ kind: 'merged', bytes: bytes(text) })

/** Bytes rich in line ends, CR and bytes that are no UTF-8; now and then a NUL. */
const anyFile = fc
  .array(fc.constantFrom(10, 10, 10, 13, 97, 98, 255), { maxLength: 30 })
  .chain((file) => fc.constantFrom(file, file, file, [...file, 0]))
  .map((file) => Uint8Array.from(file))

/** A base of distinct lines, and two edits of it that remove lines and add new, distinct ones. */
const distinctEdits = fc.nat({ max: 12 }).chain((count) => {
  const base = Array.from({ length: count }, (_, i) => `${i}\n`)
  const edit = (side: string): fc.Arbitrary<string[]> =>
    fc
      .array(fc.record({ keep: fc.boolean(), add: fc.nat({ max: 8 }) }), {
        minLength: count + 1,
        maxLength: count + 1,
      })
      .map((places) =>
        places.flatMap(({ keep, add }, i) => [
          ...(add === 0 ? [`${side} ${i}\n`] : []),
          ...(add === 1 ? [`both ${i}\n`] : []),
          ...(keep || add > 3 ? base.slice(i, i + 1) : []),
        ]),
      )
  return fc.tuple(fc.constant(base), edit('ours'), edit('theirs'))
})

describe('mergeText: laws', () => {
  it('takes the side that changed, if the other did not', () => {
    fc.assert(
      fc.property(anyFile, anyFile, (base, side) => {
        expect(mergeText(base, side, base)).toEqual({ kind: 'merged', bytes: side })
        expect(mergeText(base, base, side)).toEqual({ kind: 'merged', bytes: side })
      }),
    )
  })

  it('takes once what both sides made', () => {
    fc.assert(
      fc.property(anyFile, anyFile, (base, side) => {
        expect(mergeText(base, side, side)).toEqual({ kind: 'merged', bytes: side })
      }),
    )
  })

  it('gives the same with the sides exchanged', () => {
    fc.assert(
      fc.property(anyFile, anyFile, anyFile, (base, ours, theirs) => {
        const exchanged = mergeText(base, theirs, ours)
        expect(mergeText(base, ours, theirs)).toEqual(
          exchanged.kind === 'conflict'
            ? {
                kind: 'conflict',
                regions: exchanged.regions.map((region) => ({
                  baseStart: region.baseStart,
                  baseLength: region.baseLength,
                  oursStart: region.theirsStart,
                  oursLength: region.theirsLength,
                  theirsStart: region.oursStart,
                  theirsLength: region.oursLength,
                })),
              }
            : exchanged,
        )
      }),
      { numRuns: 500 },
    )
  })

  it('keeps every added line, and every line that neither side removed, in order', () => {
    fc.assert(
      fc.property(distinctEdits, ([base, ours, theirs]) => {
        const result = merge(base.join(''), ours.join(''), theirs.join(''))
        fc.pre(result.kind === 'merged')
        const lines: string[] = new TextDecoder().decode(result.bytes).match(/.*\n/g) ?? []
        const added = [...ours, ...theirs].filter((line) => !base.includes(line))
        const kept = base.filter((line) => ours.includes(line) && theirs.includes(line))
        expect(lines.toSorted()).toEqual([...new Set([...added, ...kept])].toSorted())
        for (const side of [ours, theirs]) {
          const remaining = side.filter((line) => lines.includes(line))
          expect(lines.filter((line) => side.includes(line))).toEqual(remaining)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('mergeText: examples', () => {
  it('brings together changes of different places', () => {
    expect(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nC\nd\n')).toEqual(merged('A\nb\nC\nd\n'))
  })

  it('names the regions in conflict and only those', () => {
    expect(merge('a\nb\nc\nd\ne\n', 'A\nb\nx\nd\ne\n', 'a\nb\ny\nz\nd\ne\n')).toEqual({
      kind: 'conflict',
      regions: [
        {
          baseStart: 2,
          baseLength: 1,
          oursStart: 2,
          oursLength: 1,
          theirsStart: 2,
          theirsLength: 2,
        },
      ],
    })
  })

  it('a last newline removed by one side stays removed', () => {
    expect(merge('a\nb\nc\n', 'A\nb\nc\n', 'a\nb\nc')).toEqual(merged('A\nb\nc'))
  })

  it('a last newline added by one side stays added', () => {
    expect(merge('a\nb\nc', 'A\nb\nc', 'a\nb\nc\n')).toEqual(merged('A\nb\nc\n'))
  })

  it('lines appended by one side do not run into a last line without newline', () => {
    expect(merge('a\nb\nc', 'A\nb\nc', 'a\nb\nc\nd')).toEqual(merged('A\nb\nc\nd'))
    expect(merge('a', 'a\nb', 'a\nc').kind).toBe('conflict')
  })

  it('a change of all line ends conflicts with a change of a line', () => {
    expect(merge('a\nb\n', 'a\r\nb\r\n', 'A\nb\n').kind).toBe('conflict')
    expect(merge('a\r\nb\r\nc\r\n', 'A\r\nb\r\nc\r\n', 'a\r\nb\r\nC\r\n')).toEqual(
      merged('A\r\nb\r\nC\r\n'),
    )
  })

  it('files that both sides added have an empty base', () => {
    expect(merge('', 'a\n', 'a\n')).toEqual(merged('a\n'))
    expect(merge('', 'a\n', 'a\nb\n').kind).toBe('conflict')
  })

  it('counts newlines as lines', () => {
    expect(merge('\n\n\n', 'a\n\n\n\n', '\n\n\nb\n')).toEqual(merged('a\n\n\n\nb\n'))
  })

  it('very long lines are lines', () => {
    const long = 'x'.repeat(2 ** 17)
    expect(merge(`${long}\nb\nc\n`, `${long}!\nb\nc\n`, `${long}\nb\nC\n`)).toEqual(
      merged(`${long}!\nb\nC\n`),
    )
  })
})

describe('mergeText: what it does not merge', () => {
  it('binary: one of three is enough', () => {
    const binary = { kind: 'unmergeable', why: 'binary' }
    expect(merge('a\0', 'b', 'c')).toEqual(binary)
    expect(merge('a', 'b\0', 'c')).toEqual(binary)
    expect(merge('a', 'b', 'c\0')).toEqual(binary)
  })

  it('a text that is too large by bytes or by lines is not merged', () => {
    const tooLarge = { kind: 'unmergeable', why: 'too-large' }
    const many = new Uint8Array(textLinesMax + 1).fill(10)
    const large = new Uint8Array(textMergeBytesMax + 1).fill(97)
    expect(mergeText(bytes('a'), large, bytes('b'))).toEqual(tooLarge)
    expect(mergeText(many, bytes('a'), bytes('b'))).toEqual(tooLarge)
    expect(mergeText(large, bytes('a\0'), bytes('b'))).toEqual({
      kind: 'unmergeable',
      why: 'binary',
    })
  })
})
