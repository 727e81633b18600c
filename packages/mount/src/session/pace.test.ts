import { expect, it } from 'vitest'
import { Pace } from './pace.ts'

const KiB = 1 << 10
const MiB = 1 << 20

/** How many messages of that size may be sent at once. */
function countSent(pace: Pace, bytes: number): number {
  let count = 0
  while (count < 1000 && pace.send(bytes)) count++
  return count
}

it('before any break nothing is held back', () => {
  expect(countSent(new Pace(), MiB)).toBe(1000)
})

it('breaks lower it, down to one message at a time, however large', () => {
  const pace = new Pace()
  const sent = Array.from({ length: 8 }, () => {
    const count = countSent(pace, 256 * KiB)
    pace.noteBroken()
    return count
  })
  expect(sent).toEqual([1000, 32, 8, 2, 1, 1, 1, 1])
})

it('answers raise it again, until nothing is held back', () => {
  const pace = new Pace()
  for (let i = 0; i < 8; i++) {
    countSent(pace, MiB)
    pace.noteBroken()
  }
  expect(countSent(pace, MiB)).toBe(1)
  for (let i = 0; i < 32; i++) {
    pace.answered(MiB)
    countSent(pace, MiB)
  }
  expect(countSent(pace, MiB)).toBeGreaterThan(500)
})

it('a break lowers it to what got through before it', () => {
  const pace = new Pace()
  countSent(pace, MiB)
  for (let i = 0; i < 3; i++) pace.answered(MiB)
  pace.noteBroken()
  expect(countSent(pace, MiB)).toBe(3)
})

it('a break while nothing is on its way changes nothing', () => {
  const pace = new Pace()
  pace.noteBroken()
  expect(countSent(pace, MiB)).toBe(1000)
})
