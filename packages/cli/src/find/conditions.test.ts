import { describe, expect, it } from 'vitest'
import { parseTime, sizesOf } from './conditions.ts'

const now = new Date('2031-05-10T12:00:00Z')

it.each([
  ['+1k', { sizeMin: 1025 }],
  ['-1k', { sizeMax: 1023 }],
  ['1k', { sizeMin: 1024, sizeMax: 1024 }],
  ['1024c', { sizeMin: 1024, sizeMax: 1024 }],
  ['+0', { sizeMin: 1 }],
  ['0', { sizeMin: 0, sizeMax: 0 }],
  ['1M', { sizeMin: 2 ** 20, sizeMax: 2 ** 20 }],
  ['-1G', { sizeMax: 2 ** 30 - 1 }],
])('-size %s', (text, expected) => {
  expect(sizesOf(text)).toEqual(expected)
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
    expect(parseTime('-newer', text, now)).toEqual(new Date(time))
  })
})

it.each(['soon', '2031-13-01', '2031-05', '5', '5w', ''])('the time %j is refused', (text) => {
  expect(() => parseTime('-newer', text, now)).toThrow('that cannot be read')
})

it.each(['big', '+', '1.5k', '10K', '1e3', '', '-0', '999999999999999G'])(
  'the size %j is refused',
  (text) => {
    expect(() => sizesOf(text)).toThrow('that cannot be read')
  },
)
