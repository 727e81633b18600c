import type { Time } from '@cairn/core'

/** Above this the two clocks have drifted apart: one was set, or the machine was asleep. */
const driftMs = 2

let origin = Date.now() - performance.now()

/** The time of day, finer than `Date.now` has it: files made in one millisecond stay in order. */
export function now(): Time {
  let ms = origin + performance.now()
  const wall = Date.now()
  if (Math.abs(ms - wall) > driftMs) {
    origin = wall - performance.now()
    ms = wall
  }
  const sec = Math.floor(ms / 1000)
  return { sec, nsec: Math.min(999_999_999, Math.floor((ms - sec * 1000) * 1e6)) }
}
