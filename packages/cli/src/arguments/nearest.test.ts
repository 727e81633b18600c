import { describe, expect, it } from 'vitest'
import { editDistance, findNearest } from './nearest.ts'

describe('editDistance', () => {
  it.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', 'abc', 0],
    ['abc', 'acb', 1],
    ['kitten', 'sitting', 3],
    ['ca', 'abc', 3],
  ])('%j and %j: %i', (a, b, distance) => {
    expect(editDistance(a, b)).toBe(distance)
    expect(editDistance(b, a)).toBe(distance)
  })
})

describe('findNearest', () => {
  const words = ['recursive', 'resume', 'append', 'fs cp', 'fs cat']

  it('letters may be left out', () => {
    expect(findNearest('mnt', ['umount', 'mount', 'mount status'])).toBe('mount')
    expect(findNearest('dwn', ['doctor', 'down'])).toBe('down')
  })

  it.each([
    ['resmue', 'resume'],
    ['rec', 'recursive'],
    ['fs cpp', 'fs cp'],
    ['x', undefined],
    ['layer', undefined],
  ])('%s: %s', (word, nearest) => {
    expect(findNearest(word, words)).toBe(nearest)
  })
})
