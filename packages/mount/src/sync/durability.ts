import type { Window } from '../outbox/outbox.ts'

/** When what a program did is safe from the loss of its sandbox. */
export interface Durability {
  /** What waits until the server has it. */
  readonly waits: 'nothing' | 'fsync' | 'close' | 'write'
  /** How far the server may be behind under a lease. */
  readonly window: Window
}

export const durabilityNames = ['auto', 'interactive', 'fsync', 'close-sync', 'write-sync'] as const
export type DurabilityName = (typeof durabilityNames)[number]

const mib = 1 << 20

export const durabilities: Readonly<Record<DurabilityName, Durability>> = {
  auto: { waits: 'fsync', window: { bytes: 64 * mib, ms: 5000 } },
  interactive: { waits: 'nothing', window: { bytes: 1024 * mib, ms: Infinity } },
  fsync: { waits: 'fsync', window: { bytes: 256 * mib, ms: 30_000 } },
  'close-sync': { waits: 'close', window: { bytes: 64 * mib, ms: 5000 } },
  'write-sync': { waits: 'write', window: { bytes: 64 * mib, ms: 5000 } },
}

/** What is on its way cannot be let go: it must fit in the cache, beside what is being written. */
export function windowOf(durability: DurabilityName, cacheBytes: number): Window {
  const { bytes, ms } = durabilities[durability].window
  return { bytes: Math.min(bytes, cacheBytes / 2), ms }
}
