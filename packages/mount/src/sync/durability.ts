import type { MountOptions } from '../mount-options.ts'
import type { Window } from '../outbox/outbox.ts'

/** When what a program did is safe from the loss of its sandbox. */
export interface Durability {
  /** What waits until the server has it. */
  readonly waits: 'nothing' | 'fsync' | 'close' | 'write'
  /** How far the server may be behind under a lease. */
  readonly window: Omit<Window, 'busyMs'>
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

/**
 * What a sandbox has not sent is lost with it. With 100 ms, and a server 10 ms away, half of the files that a `tar x` wrote
 * arrived after 115 ms; 100 is the aim. `npm run bench -- sharing` measures it.
 */
const busyMs = 60
/**
 * A server on the same machine shares its CPUs with the program: a clone beside its own upload takes a third longer. And
 * what was not sent is in the spool on the same disk, so waiting loses nothing.
 */
const busyHereMs = 2000

/** What is on its way cannot be let go: it must fit in the cache, beside what is being written. */
export function windowOf(
  durability: DurabilityName,
  { cacheBytes, isServerHere }: Pick<MountOptions, 'cacheBytes' | 'isServerHere'>,
): Window {
  const { bytes, ms } = durabilities[durability].window
  return {
    bytes: Math.min(bytes, cacheBytes / 2),
    ms,
    busyMs: isServerHere ? busyHereMs : busyMs,
  }
}
