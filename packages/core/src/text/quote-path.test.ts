import { describe, expect, it } from 'vitest'
import { quotePath } from './quote-path.ts'

describe('quotePath', () => {
  it.each([
    ['a/plain name', 'a/plain name'],
    ['a/caf\xc3\xa9', 'a/caf\xc3\xa9'],
    ['a/tab\there', '"a/tab\\there"'],
    ['a/line\nbreak\r', '"a/line\\nbreak\\r"'],
    ['a/quote"', '"a/quote\\""'],
    ['a/back\\slash', '"a/back\\\\slash"'],
    ['a/\x01\x7f', '"a/\\001\\177"'],
  ])('%j is written %j', (path, quoted) => {
    expect(quotePath(path)).toBe(quoted)
  })
})
