import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandBraces } from './braces.ts'
import { compileGlob } from './compile-glob.ts'

describe('expandBraces', () => {
  it.each([
    ['a', ['a']],
    ['a{b,c}d', ['abd', 'acd']],
    ['{a,b{c,d}}e', ['ae', 'bce', 'bde']],
    ['{a,}b', ['ab', 'b']],
    ['{a,a}', ['a']],
    ['{a/b,c}/d', ['a/b/d', 'c/d']],
    ['{}{a}{a,b', ['{}{a}{a,b']],
    ['{a}{b,c}', ['{a}b', '{a}c']],
    ['\\{a,b}', ['\\{a,b}']],
    ['{a\\,b,c}', ['a\\,b', 'c']],
    ['', ['']],
  ])('%s', (pattern, alternatives) => {
    expect(expandBraces(pattern)).toEqual(alternatives)
  })

  it('open braces alone are read in one pass, and an open one hides no group behind it', () => {
    const open = '{'.repeat(1 << 20)
    expect(expandBraces(open)).toEqual([open])
    expect(expandBraces('{a{b,c}{d,e}')).toEqual(['{abd', '{abe', '{acd', '{ace'])
  })

  it('a pattern that would grow without end is refused', () => {
    const nested = '{a,'.repeat(1300) + '}'.repeat(1300)
    expect(() => expandBraces(nested)).toThrow('too long ones')
    expect(() => expandBraces('{a,b}'.repeat(40))).toThrow('more than 4096 patterns')
  })
})

describe('compileGlob', () => {
  it.each([
    ['*.ts', 'a.ts', true],
    ['*.ts', 'a/b.ts', false],
    ['*', '.hidden', false],
    ['.*', '.hidden', true],
    ['?idden', '.idden', false],
    ['[.]a', '.a', false],
    ['**/*.ts', 'a.ts', true],
    ['**/*.ts', 'a/b/c.ts', true],
    ['**/*.ts', '.git/c.ts', false],
    ['**/.git/*', 'a/.git/config', true],
    ['a/**', 'a', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a**b', 'a/b', false],
    ['a**b', 'axxb', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[^a-c]x', 'dx', true],
    ['[]]', ']', true],
    ['[a-]', '-', true],
    ['[z-a]', 'm', false],
    ['[', '[', true],
    ['[a', '[a', true],
    ['\\*', '*', true],
    ['\\*', 'a', false],
    ['[\\]]', ']', true],
    ['a\\', 'a\\', true],
    ['?', '😀', true],
    ['?', 'e\u0301', false],
    ['*', 'a\nb', true],
    ['{a,b}/*.{js,ts}', 'b/x.ts', true],
    ['/a/', 'a', true],
    ['', '', true],
  ] as const)('%s and %j: %s', (pattern, path, expected) => {
    expect(compileGlob(pattern)(path)).toBe(expected)
  })

  it('dot lets wildcards match hidden names', () => {
    expect(compileGlob('*', { dot: true })('.a')).toBe(true)
    expect(compileGlob('**/b', { dot: true })('.a/b')).toBe(true)
  })

  it('many stars take no more time than pattern times name', () => {
    expect(compileGlob('*a'.repeat(40) + '*b')('a'.repeat(250))).toBe(false)
  })

  it('agrees with a regular expression on stars and question marks', () => {
    const alphabet = fc.string({ unit: fc.constantFrom('a', 'b', '*', '?'), maxLength: 8 })
    const name = fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 8 })
    fc.assert(
      fc.property(alphabet, name, (pattern, text) => {
        // Two stars that stand alone mean directories.
        fc.pre(pattern !== '**')
        const regular = pattern.replaceAll('*', '.*').replaceAll('?', '.')
        expect(compileGlob(pattern)(text)).toBe(new RegExp(`^${regular}$`).test(text))
      }),
    )
  })
})
