import type { FileEntry } from '@cairn/sdk'
import { describe, expect, it } from 'vitest'
import { byName, bySize, byTime, byType, parseTime } from './conditions.ts'

const entry = (more: Partial<FileEntry>): FileEntry =>
  ({ name: 'a.ts', kind: 'file', size: 1024, mtimeNs: '1000000000000000000', ...more }) as FileEntry

const now = new Date('2031-05-10T12:00:00Z')

it.each([
  ['*.ts', 'a.ts', true],
  ['*', '.hidden', true],
  ['*.{js,ts}', 'a.js', true],
  ['a', 'ab', false],
])('-name %s on %s: %s', (pattern, name, expected) => {
  expect(byName(pattern)(entry({ name }))).toBe(expected)
})

it.each([
  ['+1k', 1024, false],
  ['+1k', 1025, true],
  ['-1k', 1024, false],
  ['-1k', 1023, true],
  ['1k', 1024, true],
  ['1024', 1024, true],
  ['1024c', 1024, true],
  ['+0', 0, false],
  ['1M', 2 ** 20, true],
  ['-1G', 2 ** 30 - 1, true],
])('-size %s on %i: %s', (text, size, expected) => {
  expect(bySize(text)(entry({ size }))).toBe(expected)
})

it('a size is one of files', () => {
  expect(bySize('-1k')(entry({ kind: 'directory', size: 1 }))).toBe(false)
})

it('-type', () => {
  expect(byType('f')(entry({}))).toBe(true)
  expect(byType('d')(entry({}))).toBe(false)
  expect(byType('l')(entry({ kind: 'symlink' }))).toBe(true)
})

describe('times', () => {
  it.each([
    ['2031-05-01', '2031-05-01T00:00:00Z'],
    ['2031-05-01T12:30', '2031-05-01T12:30:00Z'],
    ['2031-05-01T12:30:15Z', '2031-05-01T12:30:15Z'],
    ['2031-05-01T12:30+02:00', '2031-05-01T10:30:00Z'],
    ['90m', '2031-05-10T10:30:00Z'],
    ['7d', '2031-05-03T12:00:00Z'],
  ])('%s', (text, time) => {
    expect(parseTime('-newer', text, now)).toBe(Date.parse(time))
  })

  it('newer and older leave out the moment itself', () => {
    const at = (ns: bigint): FileEntry => entry({ mtimeNs: String(ns) })
    const limit = BigInt(Date.parse('2031-05-01T00:00:00Z')) * 1_000_000n
    expect([-1n, 0n, 1n].map((d) => byTime('-newer', '2031-05-01', now)(at(limit + d)))).toEqual([
      false,
      false,
      true,
    ])
    expect([-1n, 0n, 1n].map((d) => byTime('-older', '2031-05-01', now)(at(limit + d)))).toEqual([
      true,
      false,
      false,
    ])
  })
})

it.each(['soon', '2031-13-01', '2031-05', '5', '5w', ''])('the time %j is refused', (text) => {
  expect(() => parseTime('-newer', text, now)).toThrow('that cannot be read')
})

it.each(['big', '+', '1.5k', '10K', '1e3', ''])('the size %j is refused', (text) => {
  expect(() => bySize(text)).toThrow('that cannot be read')
})
