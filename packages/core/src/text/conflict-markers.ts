import { concatBytes } from '@cairn/protocol'
import { endsWithLineFeed, lineBytes, type TextLines, type TextProblem } from './lines.ts'
import { type MergePlan, mergePieces, planMerge } from './merge-plan.ts'
import type { MergeRegion } from './merge-regions.ts'

/** What stands behind the markers: layer names, for example. One line each. */
export interface ConflictLabels {
  readonly ours: string
  readonly base: string
  readonly theirs: string
}

export type MarkedMerge =
  /** Without conflicts, these are the bytes that `mergeText` gives. */
  | { readonly kind: 'marked'; readonly bytes: Uint8Array; readonly conflictCount: number }
  | { readonly kind: 'unmergeable'; readonly why: TextProblem }

/**
 * The merged file with each conflict spelled out, as `git merge-file --diff3` writes it: our lines,
 * those of the base and their lines between `<<<<<<<`, `|||||||`, `=======` and `>>>>>>>`.
 *
 * A version that ends without a newline inside a conflict gets one, or the marker would not stand
 * on a line of its own. Throws a RangeError when a label has a line break.
 */
export function markConflicts(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
  labels: ConflictLabels,
): MarkedMerge {
  const plan = planMerge(base, ours, theirs)
  if (typeof plan === 'string') return { kind: 'unmergeable', why: plan }
  const markers = makeMarkers(labels, findLineEnd(plan))
  const pieces = mergePieces(plan)
  const bytes = pieces.map((piece) =>
    piece.kind === 'settled' ? piece.bytes : markRegion(plan, piece.region, markers),
  )
  const conflictCount = pieces.filter((piece) => piece.kind === 'conflict').length
  return { kind: 'marked', bytes: concatBytes(bytes), conflictCount }
}

interface Markers {
  readonly ours: Uint8Array
  readonly base: Uint8Array
  readonly middle: Uint8Array
  readonly theirs: Uint8Array
  readonly lineEnd: Uint8Array
}

function makeMarkers(labels: ConflictLabels, lineEnd: string): Markers {
  const marker = (sign: string, label: string): Uint8Array => {
    if (/[\r\n]/.test(label)) {
      throw new RangeError(
        `cannot mark a conflict: the label ${JSON.stringify(label)} has a line break`,
      )
    }
    return utf8.encode(sign.repeat(7) + (label === '' ? '' : ` ${label}`) + lineEnd)
  }
  return {
    ours: marker('<', labels.ours),
    base: marker('|', labels.base),
    middle: marker('=', ''),
    theirs: marker('>', labels.theirs),
    lineEnd: utf8.encode(lineEnd),
  }
}

function markRegion(plan: MergePlan, region: MergeRegion, markers: Markers): Uint8Array {
  const section = (file: TextLines, start: number, length: number): Uint8Array[] => {
    const bytes = lineBytes(file, start, length)
    return length === 0 || endsWithLineFeed(bytes) ? [bytes] : [bytes, markers.lineEnd]
  }
  return concatBytes([
    markers.ours,
    ...section(plan.ours, region.oursStart, region.oursLength),
    markers.base,
    ...section(plan.base, region.baseStart, region.baseLength),
    markers.middle,
    ...section(plan.theirs, region.theirsStart, region.theirsLength),
    markers.theirs,
  ])
}

/** CRLF if the files use it, of which their first lines are the sample. */
function findLineEnd({ base, ours, theirs }: MergePlan): string {
  const complete = [base, ours, theirs].filter((file) => endsWithLineFeed(lineBytes(file, 0, 1)))
  return complete.length > 0 && complete.every(startsWithCrLf) ? '\r\n' : '\n'
}

function startsWithCrLf(file: TextLines): boolean {
  return lineBytes(file, 0, 1).at(-2) === 0x0d
}

const utf8 = new TextEncoder()
