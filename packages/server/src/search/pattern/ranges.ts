/** Sorted and disjoint: the first and the last of each range, one after the other. */
export type CodeRanges = readonly number[]

export const codePointMax = 0x10ffff
export const byteMax = 0xff

export function single(code: number): CodeRanges {
  return [code, code]
}

export function union(...sets: readonly CodeRanges[]): CodeRanges {
  const pairs: [number, number][] = []
  for (const set of sets)
    for (let at = 0; at < set.length; at += 2) pairs.push([set[at]!, set[at + 1]!])
  pairs.sort((a, b) => a[0] - b[0])
  const merged: number[] = []
  for (const [first, last] of pairs) {
    const end = merged.at(-1)
    if (end === undefined || first > end + 1) merged.push(first, last)
    else if (last > end) merged[merged.length - 1] = last
  }
  return merged
}

export function negate(set: CodeRanges, max: number): CodeRanges {
  const gaps: number[] = []
  let next = 0
  for (let at = 0; at < set.length; at += 2) {
    if (set[at]! > next) gaps.push(next, set[at]! - 1)
    next = set[at + 1]! + 1
  }
  if (next <= max) gaps.push(next, max)
  return gaps
}

export function intersect(a: CodeRanges, b: CodeRanges): CodeRanges {
  const both: number[] = []
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    const first = Math.max(a[i]!, b[j]!)
    const last = Math.min(a[i + 1]!, b[j + 1]!)
    if (first <= last) both.push(first, last)
    if (a[i + 1]! < b[j + 1]!) i += 2
    else j += 2
  }
  return both
}

export function subtract(a: CodeRanges, b: CodeRanges, max: number): CodeRanges {
  return intersect(a, negate(b, max))
}

export function includes(set: CodeRanges, code: number): boolean {
  let [low, high] = [0, set.length / 2 - 1]
  while (low <= high) {
    const middle = (low + high) >> 1
    if (code < set[2 * middle]!) high = middle - 1
    else if (code > set[2 * middle + 1]!) low = middle + 1
    else return true
  }
  return false
}

export function countOf(set: CodeRanges): number {
  let count = 0
  for (let at = 0; at < set.length; at += 2) count += set[at + 1]! - set[at]! + 1
  return count
}
