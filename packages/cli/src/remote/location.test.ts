import { describe, expect, it } from 'vitest'
import { baseName, joinPath, parseLocation, parseRemote } from './location.ts'

describe('remote paths', () => {
  it.each([
    [':/a/b', undefined, '/a/b'],
    [':/', undefined, '/'],
    ['prod:/a', 'prod', '/a'],
    ['my.ctx-1_x:/a:/b', 'my.ctx-1_x', '/a:/b'],
    [':/with\nnewline', undefined, '/with\nnewline'],
  ])('%j', (text, context, path) => {
    expect(parseLocation(text)).toEqual({ context, path })
  })

  it.each(['a', '/a', './a:/b', '-', '', ':a', 'a:b', '-x:/a', 'a b:/c', 'http://host/path'])(
    '%j is not remote',
    (text) => {
      // Except that this one looks like a context called http; a slash more makes no other path.
      if (text.startsWith('http')) expect(parseLocation(text)?.context).toBe('http')
      else expect(parseLocation(text)).toBeUndefined()
    },
  )

  it('a bare path will do where only remote makes sense', () => {
    expect(parseRemote('/a')).toEqual({ context: undefined, path: '/a' })
    expect(() => parseRemote('a')).toThrow(
      "cannot find 'a': a remote path begins with :/. Write :/a,",
    )
  })
})

it.each([
  ['/a/b', 'b'],
  ['/a/b/', 'b'],
  ['/', ''],
  ['/a\n/b\nc', 'b\nc'],
])('the last name of %j is %j', (path, name) => {
  expect(baseName(path)).toBe(name)
})

it('joining makes no double slash', () => {
  expect(joinPath('/', 'a')).toBe('/a')
  expect(joinPath('/a/', 'b')).toBe('/a/b')
})
