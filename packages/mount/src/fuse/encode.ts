import type { Time } from '@cairn/core'
import type { Attributes, Entry } from './file-system.ts'

const high = 2 ** 32

/** The size of the kernel's entry structure. */
export const entryBytes = 128

/** At index `at` of 32-bit words, as everywhere here. Negative numbers come out in two's complement. */
export function putU64(words: Uint32Array, at: number, value: number): void {
  words[at] = value >>> 0
  words[at + 1] = Math.floor(value / high) >>> 0
}

function putSeconds(words: Uint32Array, at: number, nsecAt: number, time: Time): void {
  putU64(words, at, time.sec)
  words[nsecAt] = time.nsec
}

export function putAttributes(words: Uint32Array, at: number, attributes: Attributes): void {
  putU64(words, at, attributes.ino)
  putU64(words, at + 2, attributes.size)
  putU64(words, at + 4, attributes.blocks)
  putSeconds(words, at + 6, at + 12, attributes.atime)
  putSeconds(words, at + 8, at + 13, attributes.mtime)
  putSeconds(words, at + 10, at + 14, attributes.ctime)
  words[at + 15] = attributes.mode
  words[at + 16] = attributes.nlink
  words[at + 17] = attributes.uid
  words[at + 18] = attributes.gid
  words[at + 19] = attributes.rdev
  // A preferred size of I/O: 0 lets the kernel choose.
  words[at + 20] = 0
  words[at + 21] = 0
}

/** Seconds of a time-to-live, which may have a fraction, and its nanoseconds in another place. */
export function putTtl(words: Uint32Array, at: number, nsecAt: number, ttl: number): void {
  const whole = Math.floor(ttl)
  putU64(words, at, whole)
  words[nsecAt] = Math.floor((ttl - whole) * 1e9)
}

export function putEntry(words: Uint32Array, at: number, entry: Entry): void {
  putU64(words, at, entry.nodeid)
  // The generation: nodeids are never used twice, so one is enough.
  putU64(words, at + 2, 0)
  putTtl(words, at + 4, at + 8, entry.ttl)
  putTtl(words, at + 6, at + 9, entry.ttl)
  putAttributes(words, at + 10, entry.attributes)
}

/** A name that is not there, or an entry the kernel must not count: nodeid 0. */
export function putNoEntry(words: Uint32Array, at: number, ttl: number): void {
  words.fill(0, at, at + entryBytes / 4)
  putTtl(words, at + 4, at + 8, ttl)
}
