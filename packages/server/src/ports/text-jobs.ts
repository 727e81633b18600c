import { diffLines, diffStat, formatPatch, mergeText, splitLines } from '@cairn/core'
import type { TextJob, TextResults } from './text-messages.ts'

export function runTextJob(job: TextJob): TextResults[TextJob['type']] {
  switch (job.type) {
    case 'merge':
      return mergeText(job.base, job.ours, job.theirs)
    case 'stat':
      return diffStat(job.before, job.after)
    case 'patch':
      return formatPatch(job.before, job.after)
    case 'hunks':
      return findHunks(job.before, job.after)
  }
}

function findHunks(before: Uint8Array, after: Uint8Array): Int32Array {
  const hunks = diffLines(splitLines(before), splitLines(after))
  const numbers = new Int32Array(4 * hunks.length)
  for (const [at, { oldStart, oldLength, newStart, newLength }] of hunks.entries())
    numbers.set([oldStart, oldLength, newStart, newLength], 4 * at)
  return numbers
}
