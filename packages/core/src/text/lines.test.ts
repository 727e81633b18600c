import { concatBytes } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  findTextProblem,
  isText,
  lineBytes,
  splitLines,
  textLinesMax,
  textMergeBytesMax,
} from './lines.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const split = (text: string): string[] => {
  const lines = splitLines(bytes(text))
  return Array.from({ length: lines.count }, (_, i) =>
    new TextDecoder().decode(lineBytes(lines, i, 1)),
  )
}

describe('splitLines', () => {
  it.each([
    ['', []],
    ['\n', ['\n']],
    ['\n\n', ['\n', '\n']],
    ['a', ['a']],
    ['a\n', ['a\n']],
    ['a\nb', ['a\n', 'b']],
    ['a\r\nb\r\n', ['a\r\n', 'b\r\n']],
    ['a\rb\n', ['a\rb\n']],
  ])('%j: an LF ends a line and stays with it', (text, lines) => {
    expect(split(text)).toEqual(lines)
  })

  it('loses no byte, and only the last line may lack its LF', () => {
    fc.assert(
      fc.property(fc.uint8Array({ max: 12, maxLength: 60 }), (file) => {
        const lines = splitLines(file)
        const each = Array.from({ length: lines.count }, (_, i) => lineBytes(lines, i, 1))
        expect(concatBytes(each)).toEqual(file)
        each.forEach((line, i) => {
          const at = line.indexOf(10)
          expect(at === line.length - 1 || (at === -1 && i === each.length - 1)).toBe(true)
          expect(line.length).toBeGreaterThan(0)
        })
      }),
    )
  })
})

describe('isText', () => {
  it('looks for a NUL in the first 8000 bytes and no further', () => {
    const file = new Uint8Array(9000).fill(97)
    expect(isText(file)).toBe(true)
    file[8000] = 0
    expect(isText(file)).toBe(true)
    file[7999] = 0
    expect(isText(file)).toBe(false)
  })

  it('isText is true of nothing and of bytes that are no UTF-8', () => {
    expect(isText(new Uint8Array())).toBe(true)
    expect(isText(Uint8Array.of(0xff, 0xfe, 0x80))).toBe(true)
  })
})

describe('findTextProblem', () => {
  it('draws the line at the last byte that is allowed', () => {
    const file = new Uint8Array(textMergeBytesMax + 1).fill(97)
    expect(findTextProblem(file.subarray(1))).toBeUndefined()
    expect(findTextProblem(file)).toBe('too-large')
  })

  it('draws the line at the last line that is allowed', () => {
    const file = new Uint8Array(textLinesMax + 1).fill(10)
    expect(findTextProblem(file.subarray(1))).toBeUndefined()
    expect(findTextProblem(file)).toBe('too-large')
  })

  it('calls a large binary file binary', () => {
    expect(findTextProblem(new Uint8Array(textMergeBytesMax + 1))).toBe('binary')
  })
})
