import { describe, expect, it } from 'vitest'
import { JsonShape } from './json-shape.ts'

const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`

function add(text: string, pieceBytes = text.length): void {
  const shape = new JsonShape()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += pieceBytes)
    shape.add(bytes.subarray(at, at + pieceBytes))
}

describe('the shape of JSON', () => {
  it('the shape of JSON is bounded in depth, values and fields, however it is cut', () => {
    for (const piece of [1, 2, 3, 1000]) {
      expect(() => add(nested(64), piece)).not.toThrow()
      expect(() => add(nested(65), piece)).toThrow('64 levels')
      expect(() => add(`{"a":${nested(64)}}`, piece)).toThrow('64 levels')
    }
    expect(() => add(`[${'0,'.repeat(200_000)}0]`)).not.toThrow()
    expect(() => add(`[${'0,'.repeat(200_001)}0]`)).toThrow('200000 values')
    expect(() => add(`{${'"a":0,'.repeat(24_999)}"a":0}`)).not.toThrow()
    expect(() => add(`{${'"a":0,'.repeat(25_000)}"a":0}`, 1000)).toThrow('25000 fields')
  })

  it('the shape of JSON does not count what is in a text, nor takes an escaped quote for its end', () => {
    const text = JSON.stringify(['"[\\', '{'.repeat(100), '\\"', '[,:'.repeat(100_000)])
    for (const piece of [1, 2, 7, text.length]) expect(() => add(text, piece)).not.toThrow()
    expect(() => add(`["\\\\",${nested(64)}]`)).toThrow('64 levels')
  })
})
