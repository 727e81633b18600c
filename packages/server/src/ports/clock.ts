import { setTimeout } from 'node:timers/promises'
import type { Time } from '@cairn/core'

export interface Clock {
  nowMs(): number
  /** Resolves after about that long. */
  sleep(ms: number): Promise<void>
  /** Strictly later than any time given before: two changes never carry the same one. */
  now(): Time
}

/** The machine's clock, in nanoseconds; where it stands still or goes back, it is nudged forward. */
export function systemClock(): Clock {
  let lastMs = 0
  let extraNs = 0
  return {
    nowMs: Date.now,
    sleep: (ms) => setTimeout(ms, undefined, { ref: false }),
    now() {
      const ms = Date.now()
      if (ms > lastMs) {
        lastMs = ms
        extraNs = 0
      } else if (++extraNs === 1_000_000) {
        lastMs++
        extraNs = 0
      }
      return { sec: Math.floor(lastMs / 1000), nsec: (lastMs % 1000) * 1_000_000 + extraNs }
    },
  }
}

/** ISO 8601 with as many digits as JSON readers expect. */
export function isoTime(time: Time): string {
  return new Date(millisecondsOf(time)).toISOString()
}

export function millisecondsOf({ sec, nsec }: Time): number {
  return sec * 1000 + Math.floor(nsec / 1_000_000)
}

/** The same to the nanosecond, always of the same length: texts in their order are times in their order. */
export function exactTime(time: Time): string {
  return isoTime(time).replace(/\d{3}Z$/, `${String(time.nsec).padStart(9, '0')}Z`)
}

export function nanoseconds({ sec, nsec }: Time): bigint {
  return BigInt(sec) * 1_000_000_000n + BigInt(nsec)
}

export function timeOf(ns: bigint): Time {
  const second = 1_000_000_000n
  const nsec = ((ns % second) + second) % second
  return { sec: Number((ns - nsec) / second), nsec: Number(nsec) }
}
