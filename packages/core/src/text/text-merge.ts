import { concatBytes, equalBytes } from '@cairn/protocol'
import type { TextProblem } from './lines.ts'
import { mergePieces, planMerge } from './merge-plan.ts'
import type { MergeRegion } from './merge-regions.ts'

export type TextMerge =
  /** The bytes may be those of an argument, not a copy. */
  | { readonly kind: 'merged'; readonly bytes: Uint8Array }
  /** What needs a person, ascending; the rest of the file would merge. */
  | { readonly kind: 'conflict'; readonly regions: readonly MergeRegion[] }
  | { readonly kind: 'unmergeable'; readonly why: TextProblem }

/**
 * Brings the changes that `ours` and `theirs` made to `base` into one file: all of both, or a
 * conflict. What counts as one is said at `mergeRegions`. A file that both sides added has an empty
 * base.
 *
 * If one side changed nothing, or both the same, the answer needs no lines, and is given for binary
 * and large files, too.
 */
export function mergeText(base: Uint8Array, ours: Uint8Array, theirs: Uint8Array): TextMerge {
  if (equalBytes(base, theirs) || equalBytes(ours, theirs)) return { kind: 'merged', bytes: ours }
  if (equalBytes(base, ours)) return { kind: 'merged', bytes: theirs }
  const plan = planMerge(base, ours, theirs)
  if (typeof plan === 'string') return { kind: 'unmergeable', why: plan }
  const pieces = mergePieces(plan)
  const conflicts = pieces.filter((piece) => piece.kind === 'conflict')
  if (conflicts.length > 0) return { kind: 'conflict', regions: conflicts.map((it) => it.region) }
  const settled = pieces.filter((piece) => piece.kind === 'settled')
  return { kind: 'merged', bytes: concatBytes(settled.map((piece) => piece.bytes)) }
}
