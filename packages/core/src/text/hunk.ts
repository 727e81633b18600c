/**
 * `oldLength` lines from `oldStart` (counted from 0) became `newLength` lines from `newStart`.
 *
 * INVARIANT of a list: ascending, none empty on both sides, and at least one common line between
 * neighbours, which is the same number of lines on both sides.
 */
export interface Hunk {
  readonly oldStart: number
  readonly oldLength: number
  readonly newStart: number
  readonly newLength: number
}

/** What lies between the lines that stay: `partners[old]` is the new line or −1. */
export function hunksBetween(partners: Int32Array, newCount: number): Hunk[] {
  const hunks: Hunk[] = []
  let oldStart = 0
  let newStart = 0
  const close = (oldEnd: number, newEnd: number): void => {
    const oldLength = oldEnd - oldStart
    const newLength = newEnd - newStart
    if (oldLength + newLength > 0) hunks.push({ oldStart, oldLength, newStart, newLength })
    oldStart = oldEnd + 1
    newStart = newEnd + 1
  }
  partners.forEach((partner, old) => {
    if (partner >= 0) close(old, partner)
  })
  close(partners.length, newCount)
  return hunks
}

/** One hunk for two, the second beginning where the first ends. */
export function joinHunks(first: Hunk, second: Hunk): Hunk {
  return {
    oldStart: first.oldStart,
    oldLength: first.oldLength + second.oldLength,
    newStart: first.newStart,
    newLength: first.newLength + second.newLength,
  }
}
