import { expect, it } from 'vitest'
import { BackOff } from './back-off.ts'

const refused = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
const reset = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

function waits(why: unknown): number[] {
  const backOff = new BackOff(() => 1)
  return Array.from({ length: 7 }, () => backOff.next(why))
}

it('a server that is away is tried less and less often', () => {
  expect(waits(refused)).toEqual([200, 400, 800, 1600, 3200, 5000, 5000])
})

it.each([undefined, reset])('a link that breaks is tried again soon: %s', (why) => {
  expect(waits(why)).toEqual([50, 100, 200, 400, 500, 500, 500])
})

it('begins anew after a success', () => {
  const backOff = new BackOff(() => 1)
  backOff.next(refused)
  backOff.reset()
  expect(backOff.next(refused)).toBe(200)
})
