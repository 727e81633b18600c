import type { Steps } from './steps.ts'

/** How many are sorted in one step: about 1 ms. */
const runLength = 1024

/** Sorts as `toSorted` does. Of 100,000 byte strings that takes 150 ms, far too long for one step. */
export function* sortInSteps<T>(items: readonly T[], compare: (a: T, b: T) => number): Steps<T[]> {
  let runs: T[][] = []
  for (let at = 0; at < items.length; at += runLength) {
    runs.push(items.slice(at, at + runLength).sort(compare))
    yield
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let i = 0; i < runs.length; i += 2)
      merged.push(runs[i + 1] ? yield* merge(runs[i]!, runs[i + 1]!, compare) : runs[i]!)
    runs = merged
  }
  return runs[0] ?? []
}

function* merge<T>(
  left: readonly T[],
  right: readonly T[],
  compare: (a: T, b: T) => number,
): Steps<T[]> {
  const merged: T[] = []
  let [l, r] = [0, 0]
  while (l < left.length && r < right.length) {
    merged.push(compare(left[l]!, right[r]!) <= 0 ? left[l++]! : right[r++]!)
    if (merged.length % runLength === 0) yield
  }
  for (; l < left.length; l++) merged.push(left[l]!)
  for (; r < right.length; r++) merged.push(right[r]!)
  return merged
}
