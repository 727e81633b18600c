/** The candidate that is most like the word; undefined when none is like it enough to be meant. */
export function findNearest(word: string, candidates: Iterable<string>): string | undefined {
  let best: string | undefined
  // A third of the letters may differ, but one may always.
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1
  for (const candidate of candidates) {
    const isShort = candidate.startsWith(word) || isAbbreviation(word, candidate)
    const distance = isShort ? 1 : editDistance(word, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Letters to insert, delete, replace or swap with their neighbour. */
export function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(last[j]! + 1, current[j - 1]! + 1, last[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, beforeLast[j - 2]! + 1)
      current.push(least)
    }
    beforeLast = last
    last = current
  }
  return last[b.length]!
}

/** `mnt` for `mount`: some letters are left out, but not the first, and not more than half. */
function isAbbreviation(word: string, candidate: string): boolean {
  if (word.length < 3 || candidate.length > 2 * word.length || word[0] !== candidate[0])
    return false
  let at = 0
  for (const letter of candidate) if (letter === word[at]) at++
  return at === word.length
}
