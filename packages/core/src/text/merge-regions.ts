import type { Hunk } from './hunk.ts'

/** Line ranges, counted from 0, that stand for each other in the three files. */
export interface MergeRegion {
  readonly baseStart: number
  readonly baseLength: number
  readonly oursStart: number
  readonly oursLength: number
  readonly theirsStart: number
  readonly theirsLength: number
}

export interface DecidedRegion extends MergeRegion {
  /** `ours`, `theirs`: only that side changed the region. `both`: they made the same of it. */
  readonly outcome: 'ours' | 'theirs' | 'both' | 'conflict'
}

/** What one side changed since the base, and its interned lines. */
export interface MergeSide {
  readonly hunks: readonly Hunk[]
  readonly tokens: Int32Array
}

/**
 * Every place where a side differs from the base, ascending; elsewhere the three files agree.
 *
 * Hunks of the two sides that overlap or touch are one region: a change of the next line, or an
 * addition at the same place, was made without knowing of the other. At least one line that neither
 * side touched lies between independent changes. This is git's rule. Also as in git, a region that
 * has become the same on both sides is taken once, even if the two diffs describe it differently.
 */
export function mergeRegions(ours: MergeSide, theirs: MergeSide): DecidedRegion[] {
  const spans = joinTouching([...ours.hunks, ...theirs.hunks])
  const oursRanges = projectSpans(spans, ours.hunks)
  const theirsRanges = projectSpans(spans, theirs.hunks)
  return spans.map((span, i) => {
    const our = oursRanges[i]!
    const their = theirsRanges[i]!
    const isSame = (): boolean => equalTokens(ours.tokens, our, theirs.tokens, their)
    const outcome = !their.changed
      ? 'ours'
      : !our.changed
        ? 'theirs'
        : isSame()
          ? 'both'
          : 'conflict'
    return {
      baseStart: span.start,
      baseLength: span.end - span.start,
      oursStart: our.start,
      oursLength: our.end - our.start,
      theirsStart: their.start,
      theirsLength: their.end - their.start,
      outcome,
    }
  })
}

interface Range {
  readonly start: number
  readonly end: number
}

/** The base lines of the hunks, as ranges with at least one line between them. */
function joinTouching(hunks: readonly Hunk[]): Range[] {
  const spans: { start: number; end: number }[] = []
  for (const hunk of hunks.toSorted((a, b) => a.oldStart - b.oldStart)) {
    const last = spans.at(-1)
    const end = hunk.oldStart + hunk.oldLength
    if (last === undefined || hunk.oldStart > last.end) spans.push({ start: hunk.oldStart, end })
    else last.end = Math.max(last.end, end)
  }
  return spans
}

/** Where ranges of the base, none of which cuts a hunk, lie on the new side of the hunks. */
function projectSpans(
  spans: readonly Range[],
  hunks: readonly Hunk[],
): (Range & { readonly changed: boolean })[] {
  let next = 0
  let growth = 0
  return spans.map((span) => {
    const start = span.start + growth
    const first = next
    for (let hunk = hunks[next]; hunk !== undefined && hunk.oldStart <= span.end;) {
      growth += hunk.newLength - hunk.oldLength
      hunk = hunks[++next]
    }
    return { start, end: span.end + growth, changed: next > first }
  })
}

function equalTokens(a: Int32Array, aRange: Range, b: Int32Array, bRange: Range): boolean {
  const length = aRange.end - aRange.start
  if (length !== bRange.end - bRange.start) return false
  for (let i = 0; i < length; i++) if (a[aRange.start + i] !== b[bRange.start + i]) return false
  return true
}
