import { describe, expect, it } from 'vitest'
import type { Hunk } from './hunk.ts'
import { slideHunks } from './slide-hunks.ts'

const lines = (letters: string): Int32Array =>
  Int32Array.from(letters, (letter) => letter.charCodeAt(0))
const hunk = (oldStart: number, oldLength: number, newStart: number, newLength: number): Hunk => ({
  oldStart,
  oldLength,
  newStart,
  newLength,
})

describe('slideHunks', () => {
  it('moves an addition down past equal lines', () => {
    expect(slideHunks([hunk(0, 0, 0, 1)], lines('aaab'), lines('aaaab'))).toEqual([
      hunk(3, 0, 3, 1),
    ])
  })

  it('moves a removal down past equal lines', () => {
    expect(slideHunks([hunk(0, 1, 0, 0)], lines('aaab'), lines('aab'))).toEqual([hunk(2, 1, 2, 0)])
  })

  it('moves a block down by whole turns of its lines and parts of one', () => {
    expect(slideHunks([hunk(0, 0, 0, 2)], lines('xyxz'), lines('xyxyxz'))).toEqual([
      hunk(3, 0, 3, 2),
    ])
  })

  it('leaves a replacement where it is', () => {
    expect(slideHunks([hunk(0, 1, 0, 1)], lines('ac'), lines('cc'))).toEqual([hunk(0, 1, 0, 1)])
  })

  it('moves an addition up to a removal that it can touch', () => {
    expect(slideHunks([hunk(0, 1, 0, 0), hunk(2, 0, 1, 1)], lines('xab'), lines('aab'))).toEqual([
      hunk(0, 1, 0, 1),
    ])
  })

  it('moves an addition down to a removal that it can touch', () => {
    expect(slideHunks([hunk(0, 0, 0, 1), hunk(1, 1, 2, 0)], lines('axb'), lines('aab'))).toEqual([
      hunk(1, 1, 1, 1),
    ])
  })

  it('joins two additions and moves them on together', () => {
    expect(slideHunks([hunk(0, 0, 0, 1), hunk(1, 0, 2, 1)], lines('ab'), lines('aaab'))).toEqual([
      hunk(1, 0, 1, 2),
    ])
  })
})
