import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { internLines } from './intern-lines.ts'
import { splitLines } from './lines.ts'

const internTexts = (...texts: string[]): number[][] =>
  internLines(texts.map((text) => splitLines(new TextEncoder().encode(text)))).tokens.map(
    (tokens) => [...tokens],
  )

describe('internLines', () => {
  it('gives equal lines one token, across files', () => {
    const line = fc.constantFrom('', 'a', 'b', 'ab', 'a\r')
    const file = fc.array(line, { maxLength: 8 }).map((lines) => lines.map((it) => `${it}\n`))
    fc.assert(
      fc.property(file, file, (first, second) => {
        const [a, b] = internTexts(first.join(''), second.join(''))
        const tokens = [...a!, ...b!]
        const lines = [...first, ...second]
        for (const [i, one] of lines.entries()) {
          for (const [j, other] of lines.entries()) {
            expect(tokens[i] === tokens[j]).toBe(one === other)
          }
        }
      }),
    )
  })

  it('counts its tokens', () => {
    const { tokens, tokenCount } = internLines([splitLines(new TextEncoder().encode('a\nb\na\n'))])
    expect(tokenCount).toBe(2)
    expect(new Set(tokens[0])).toEqual(new Set([0, 1]))
  })

  it('tells a line from the same without LF, and from the same with CR', () => {
    const [[first, second, third]] = internTexts('a\na\r\na') as [number[]]
    expect(new Set([first, second, third]).size).toBe(3)
  })

  it('tells lines of the same hash apart, in any order', () => {
    // Known collisions of 32-bit FNV-1a.
    const [tokens] = internTexts(
      'liquid\ncostarring\nliquid\ncostarring\naltarage\nzinke\nliquid\n',
    )
    const [liquid, costarring, altarage, zinke] = [tokens![0], tokens![1], tokens![4], tokens![5]]
    expect(new Set([liquid, costarring, altarage, zinke]).size).toBe(4)
    expect(tokens).toEqual([liquid, costarring, liquid, costarring, altarage, zinke, liquid])
  })
})
