import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toByteString } from './bytes.ts'
import { isFsError } from './errno.ts'
import type { Name } from './ids.ts'
import { formatPath, isName, parseName, parsePath } from './path.ts'

function errnoOf(run: () => unknown): string | undefined {
  try {
    run()
    return undefined
  } catch (error) {
    if (!isFsError(error)) throw error
    return error.code
  }
}

describe('path', () => {
  it.each([
    ['', []],
    ['/', []],
    ['///', []],
    ['.', []],
    ['/./.', []],
    ['a', ['a']],
    ['/a/b', ['a', 'b']],
    ['a//b/', ['a', 'b']],
    ['./a/./b/.', ['a', 'b']],
    ['...', ['...']],
    ['.a/b.', ['.a', 'b.']],
    [' /\t/\n', [' ', '\t', '\n']],
    ['a\\b', ['a\\b']],
    ['%2e%2e/%2f', ['%2e%2e', '%2f']],
    ['~/$HOME', ['~', '$HOME']],
    ['\ufeffa', ['\xef\xbb\xbfa']],
    ['ä', ['\xc3\xa4']],
    ['a\u0308', ['a\xcc\x88']],
    ['\u2024\u2024', ['\xe2\x80\xa4\xe2\x80\xa4']],
  ])('%j is %j', (path, names) => {
    expect(parsePath(path)).toEqual(names)
  })

  it.each(['..', '/..', 'a/..', '../a', 'a/../b', './../'])('%j is refused', (path) => {
    expect(errnoOf(() => parsePath(path))).toBe('EINVAL')
  })

  it.each(['\0', 'a\0', '/a/b\0c', 'a\0/../b'])('a zero byte in %j is refused', (path) => {
    expect(errnoOf(() => parsePath(path))).toBe('EINVAL')
  })

  it('half a surrogate pair is refused: it would name the file of another path', () => {
    for (const path of ['\ud800', 'a/\udc00b', 'a\ud83d'])
      expect(errnoOf(() => parsePath(path))).toBe('EINVAL')
    expect(parsePath('\u{1f5fb}')).toEqual(['\xf0\x9f\x97\xbb'])
  })

  it('a path has 4095 bytes at most, a name 255, both counted in UTF-8', () => {
    const name = (bytes: number): string => 'a'.repeat(bytes)
    expect(parsePath(name(255))[0]!.length).toBe(255)
    expect(errnoOf(() => parsePath(name(256)))).toBe('ENAMETOOLONG')
    expect(parsePath('ä'.repeat(127))[0]!.length).toBe(254)
    expect(errnoOf(() => parsePath('ä'.repeat(128)))).toBe('ENAMETOOLONG')
    const long = `${'a/'.repeat(2047)}b`
    expect(parsePath(long).length).toBe(2048)
    expect(errnoOf(() => parsePath(`${long}b`))).toBe('ENAMETOOLONG')
    expect(errnoOf(() => parsePath('/'.repeat(4096)))).toBe('ENAMETOOLONG')
  })

  it('a path of any text gives names, or an errno', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (path) => {
        const errno = errnoOf(() => {
          for (const name of parsePath(path)) expect(isName(name)).toBe(true)
        })
        expect([undefined, 'EINVAL', 'ENAMETOOLONG']).toContain(errno)
      }),
    )
  })

  it('a path of UTF-8 names is parsed back to the same names', () => {
    const name = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .map((text) => text.replaceAll(/[/\0]|^\.+$/g, 'x'))
    fc.assert(
      fc.property(fc.array(name, { maxLength: 5 }), (texts) => {
        const names = parsePath(texts.join('/'))
        expect(names.length).toBe(texts.length)
        expect(parsePath(formatPath(names))).toEqual(names)
      }),
    )
  })

  it('a path of names that are not UTF-8 is for display only', () => {
    expect(formatPath([toByteString(Uint8Array.of(0xff)) as Name])).toBe('/\ufffd')
    expect(formatPath([])).toBe('/')
  })
})

describe('name', () => {
  it('a name is any bytes except slash and NUL, and not . or ..', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = toByteString(bytes)
        const wanted =
          bytes.length > 255
            ? 'ENAMETOOLONG'
            : bytes.length === 0 || text === '.' || text === '..' || /[/\0]/.test(text)
              ? 'EINVAL'
              : undefined
        expect(errnoOf(() => parseName(text))).toBe(wanted)
        expect(isName(text)).toBe(wanted === undefined)
      }),
    )
  })
})
