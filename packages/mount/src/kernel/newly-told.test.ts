import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { NewlyTold } from './newly-told.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('an inode is new for 2 s at least, and for 4 s at most', () => {
  const told = new NewlyTold()
  expect(told.has(7)).toBe(false)
  vi.advanceTimersByTime(1500)
  told.add(7)
  vi.advanceTimersByTime(1999)
  expect(told.has(7)).toBe(true)
  vi.advanceTimersByTime(2001)
  expect(told.has(7)).toBe(false)
})

it('what was told before a rest is not new after it', () => {
  const told = new NewlyTold()
  told.add(7)
  vi.advanceTimersByTime(60_000)
  expect(told.has(7)).toBe(false)
  told.add(8)
  expect(told.has(8)).toBe(true)
})
