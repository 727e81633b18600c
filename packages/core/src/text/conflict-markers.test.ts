import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { markConflicts } from './conflict-markers.ts'
import { mergeText } from './text-merge.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const labels = { ours: 'ours', base: 'base', theirs: 'theirs' }

function mark(base: string, ours: string, theirs: string): { text: string; count: number } {
  const marked = markConflicts(bytes(base), bytes(ours), bytes(theirs), labels)
  if (marked.kind !== 'marked') throw new Error(marked.why)
  return { text: new TextDecoder().decode(marked.bytes), count: marked.conflictCount }
}

describe('markConflicts', () => {
  it('shows our lines, those of the base and their lines', () => {
    expect(mark('a\nb\nc\n', 'a\nx\nc\n', 'a\ny\nz\nc\n')).toEqual({
      text: 'a\n<<<<<<< ours\nx\n||||||| base\nb\n=======\ny\nz\n>>>>>>> theirs\nc\n',
      count: 1,
    })
  })

  it('merges what can be merged around a conflict', () => {
    expect(mark('a\nb\nc\nd\ne\n', 'A\nb\nx\nd\ne\n', 'a\nb\ny\nd\nE\n')).toEqual({
      text: 'A\nb\n<<<<<<< ours\nx\n||||||| base\nc\n=======\ny\n>>>>>>> theirs\nd\nE\n',
      count: 1,
    })
  })

  it('leaves a side empty that removed the lines', () => {
    expect(mark('a\nb\nc\n', 'a\nc\n', 'a\nB\nc\n').text).toBe(
      'a\n<<<<<<< ours\n||||||| base\nb\n=======\nB\n>>>>>>> theirs\nc\n',
    )
  })

  it('ends a last line without newline, so that the marker is a line', () => {
    expect(mark('a', 'b', 'c').text).toBe(
      '<<<<<<< ours\nb\n||||||| base\na\n=======\nc\n>>>>>>> theirs\n',
    )
  })

  it('writes CRLF into files of CRLF', () => {
    expect(mark('a\r\nb', 'a\r\nx', 'a\r\ny\r\n').text).toBe(
      'a\r\n<<<<<<< ours\r\nx\r\n||||||| base\r\nb\r\n=======\r\ny\r\n>>>>>>> theirs\r\n',
    )
    expect(mark('a\r\n', 'b\n', 'c\r\n').text).toContain('=======\nc\r\n')
    expect(mark('', 'b\r\n', 'c\r\n').text).toContain('=======\r\nc\r\n')
  })

  it('markConflicts without a conflict is the merge', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 20 }), {
          minLength: 3,
          maxLength: 3,
        }),
        (texts) => {
          const [base, ours, theirs] = texts.map(bytes) as [Uint8Array, Uint8Array, Uint8Array]
          const result = mergeText(base, ours, theirs)
          const marked = markConflicts(base, ours, theirs, labels)
          if (result.kind === 'merged')
            expect(marked).toEqual({ kind: 'marked', bytes: result.bytes, conflictCount: 0 })
          if (result.kind === 'conflict')
            expect(marked).toMatchObject({ conflictCount: result.regions.length })
        },
      ),
    )
  })

  it('labels in any script; an empty one leaves the bare marker', () => {
    const marked = markConflicts(bytes('a\n'), bytes('b\n'), bytes('c\n'), {
      ours: 'épreuve',
      base: '',
      theirs: '层',
    })
    expect(marked).toMatchObject({
      bytes: bytes('<<<<<<< épreuve\nb\n|||||||\na\n=======\nc\n>>>>>>> 层\n'),
    })
  })

  it('refuses a label that would break its line', () => {
    const twoLines = { ...labels, theirs: 'one\ntwo' }
    expect(() => markConflicts(bytes('a'), bytes('b'), bytes('c'), twoLines)).toThrow(RangeError)
  })

  it('markConflicts does not mark what has no lines', () => {
    expect(markConflicts(bytes('a\0'), bytes('b'), bytes('c'), labels)).toEqual({
      kind: 'unmergeable',
      why: 'binary',
    })
  })
})
