import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { journalLines } from './journal-check.ts'

describe('canonicalJson', () => {
  it.each([
    [{ b: 1, a: [true, null], '': 'x' }, '{"":"x","a":[true,null],"b":1}'],
    [
      { '\u20ac': 1, '\r': 2, '1': 3, '\ud83d\ude00': 4 },
      '{"\\r":2,"1":3,"\u20ac":1,"\ud83d\ude00":4}',
    ],
    [[1e21, 1e-7, -0, 4.5, 2 ** 53], '[1e+21,1e-7,0,4.5,9007199254740992]'],
    ['\u0007\n"\\/é', '"\\u0007\\n\\"\\\\/é"'],
    [{ a: undefined, b: {} }, '{"b":{}}'],
  ])('%j', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
    expect(canonicalJson(JSON.parse(text))).toBe(text)
  })

  it.each([['\ud800'], [{ '\udc00': 1 }], [Infinity], [[NaN]]])('%j has none', (value) => {
    expect(() => canonicalJson(value)).toThrow(TypeError)
  })
})

describe('journalLines', () => {
  const linesOf = async (chunks: Uint8Array[]): Promise<string[]> => {
    const lines: string[] = []
    const each = async function* (): AsyncGenerator<Uint8Array> {
      yield* chunks
    }
    for await (const line of journalLines(each())) lines.push(line)
    return lines
  }

  it('finds the same lines wherever the pieces were cut', async () => {
    const bytes = new TextEncoder().encode('ä\nb\n\nlast\n')
    for (let at = 0; at <= bytes.length; at++)
      expect(await linesOf([bytes.slice(0, at), bytes.slice(at)])).toEqual(['ä', 'b', '', 'last'])
  })

  it('a line without an end, and one that is not UTF-8, are none of an export', async () => {
    expect(await linesOf([new TextEncoder().encode('{}\n{}')])).toEqual(['{}', '{} without an end'])
    expect(await linesOf([new Uint8Array([0x7b, 0xff, 0x7d, 10])])).toEqual(['not UTF-8'])
  })
})
