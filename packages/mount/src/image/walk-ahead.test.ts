import { expect, it } from 'vitest'
import { WalkAhead } from './walk-ahead.ts'

it('a single look loads nothing below, a walk more and more', () => {
  const ahead = new WalkAhead()
  const entries = Array.from({ length: 10 }, (_, miss) => {
    const next = ahead.next(miss * 50)
    ahead.end(miss * 50 + 40)
    return next
  })
  expect(entries).toEqual([0, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 10_000])
})

it('after a pause the walk is over, however long an answer takes', () => {
  const ahead = new WalkAhead()
  ahead.next(0)
  ahead.end(5000)
  expect(ahead.next(5100)).toBe(64)
  ahead.end(5200)
  expect(ahead.next(5301)).toBe(0)
})
