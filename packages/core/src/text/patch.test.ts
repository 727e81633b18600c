import { describe, expect, it } from 'vitest'
import { textMergeBytesMax } from './lines.ts'
import { diffStat, formatPatch, type PatchOptions } from './patch.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const contentOf = (text: string | undefined): Uint8Array | undefined =>
  text === undefined ? undefined : bytes(text)

function patch(
  before: string | undefined,
  after: string | undefined,
  options?: PatchOptions,
): string {
  const files = [before, after].map((text) => ({ path: 'dir/f', bytes: contentOf(text) }))
  return new TextDecoder().decode(formatPatch(files[0]!, files[1]!, options))
}

const header = '--- a/dir/f\n+++ b/dir/f\n'

describe('formatPatch', () => {
  it('shows three lines around a change', () => {
    expect(patch('1\n2\n3\n4\n5\n6\n7\n8\n9\n', '1\n2\n3\n4\nX\n6\n7\n8\n9\n')).toBe(
      `${header}@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+X\n 6\n 7\n 8\n`,
    )
  })

  it('formatPatch is empty for equal contents, binary ones included', () => {
    expect(patch('a\n', 'a\n')).toBe('')
    expect(patch('a\0', 'a\0')).toBe('')
  })

  it('joins hunks whose context touches, and not those a line further', () => {
    const options = { contextLines: 1 }
    expect(patch('a\nb\nc\nd\n', 'A\nb\nc\nD\n', options)).toBe(
      `${header}@@ -1,4 +1,4 @@\n-a\n+A\n b\n c\n-d\n+D\n`,
    )
    expect(patch('a\nb\nc\nd\ne\n', 'A\nb\nc\nd\nE\n', options)).toBe(
      `${header}@@ -1,2 +1,2 @@\n-a\n+A\n b\n@@ -4,2 +4,2 @@\n d\n-e\n+E\n`,
    )
  })

  it('formatPatch without context: an empty range names the line before it', () => {
    const options = { contextLines: 0 }
    expect(patch('a\nb\n', 'a\nx\nb\n', options)).toBe(`${header}@@ -1,0 +2 @@\n+x\n`)
    expect(patch('a\nb\n', 'b\n', options)).toBe(`${header}@@ -1 +0,0 @@\n-a\n`)
  })

  it('says where a last newline is missing', () => {
    const none = '\\ No newline at end of file\n'
    expect(patch('a', 'a\n')).toBe(`${header}@@ -1 +1 @@\n-a\n${none}+a\n`)
    expect(patch('a\n', 'a')).toBe(`${header}@@ -1 +1 @@\n-a\n+a\n${none}`)
    expect(patch('a\nb', 'x\nb')).toBe(`${header}@@ -1,2 +1,2 @@\n-a\n+x\n b\n${none}`)
  })

  it('keeps CR in the line it belongs to', () => {
    expect(patch('a\r\n', 'a\n')).toBe(`${header}@@ -1 +1 @@\n-a\r\n+a\n`)
  })

  it('calls an absent side /dev/null', () => {
    expect(patch(undefined, 'a\n')).toBe('--- /dev/null\n+++ b/dir/f\n@@ -0,0 +1 @@\n+a\n')
    expect(patch('a\n', undefined)).toBe('--- a/dir/f\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n')
    expect(patch(undefined, '')).toBe('')
  })

  it('gives one line for what is not text or too large', () => {
    const differ = 'Binary files a/dir/f and b/dir/f differ\n'
    expect(patch('a\0', 'b')).toBe(differ)
    expect(patch('a', 'b\0')).toBe(differ)
    expect(patch('a', 'b'.repeat(textMergeBytesMax + 1))).toBe(differ)
    expect(patch(undefined, '\0')).toBe('Binary files /dev/null and b/dir/f differ\n')
  })

  it('quotes names, and ends one that has a space with a tab', () => {
    const names = formatPatch(
      { path: 'two words', bytes: bytes('a\n') },
      { path: 'say "hi"', bytes: bytes('b\n') },
    )
    expect(new TextDecoder().decode(names)).toBe(
      '--- a/two words\t\n+++ "b/say \\"hi\\""\t\n@@ -1 +1 @@\n-a\n+b\n',
    )
  })
})

describe('diffStat', () => {
  it('counts added and removed lines', () => {
    expect(diffStat(bytes('a\nb\nc\n'), bytes('a\nx\ny\nc\nd\n'))).toEqual({ added: 3, removed: 1 })
    expect(diffStat(bytes('a\n'), bytes('a\n'))).toEqual({ added: 0, removed: 0 })
    expect(diffStat(bytes(''), bytes('a'))).toEqual({ added: 1, removed: 0 })
  })

  it('diffStat has no count for what has no lines', () => {
    expect(diffStat(bytes('a\0'), bytes('b'))).toBeUndefined()
    expect(diffStat(bytes('a'), new Uint8Array(textMergeBytesMax + 1).fill(97))).toBeUndefined()
  })
})
