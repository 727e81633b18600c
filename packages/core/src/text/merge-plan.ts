import { internLines } from './intern-lines.ts'
import { diffTokens } from './line-diff.ts'
import {
  findTextProblem,
  lineBytes,
  splitLines,
  type TextLines,
  type TextProblem,
} from './lines.ts'
import {
  type DecidedRegion,
  type MergeRegion,
  type MergeSide,
  mergeRegions,
} from './merge-regions.ts'

/** Three files and what becomes of each region that is not the same in all of them. */
export interface MergePlan {
  readonly base: TextLines
  readonly ours: TextLines
  readonly theirs: TextLines
  readonly regions: readonly DecidedRegion[]
}

/** The plan, or why there is none. One binary file among the three is reason enough. */
export function planMerge(
  base: Uint8Array,
  ours: Uint8Array,
  theirs: Uint8Array,
): MergePlan | TextProblem {
  const problems = [base, ours, theirs].map(findTextProblem)
  if (problems.includes('binary')) return 'binary'
  if (problems.includes('too-large')) return 'too-large'
  const files = { base: splitLines(base), ours: splitLines(ours), theirs: splitLines(theirs) }
  const { tokens, tokenCount } = internLines([files.base, files.ours, files.theirs])
  const sideOf = (file: number): MergeSide => ({
    hunks: diffTokens(tokens[0]!, tokens[file]!, tokenCount),
    tokens: tokens[file]!,
  })
  return { ...files, regions: mergeRegions(sideOf(1), sideOf(2)) }
}

/** A part of the merged file: settled bytes, or a region that a person has to settle. */
export type MergePiece =
  | { readonly kind: 'settled'; readonly bytes: Uint8Array }
  | { readonly kind: 'conflict'; readonly region: MergeRegion }

/**
 * The merged file from start to end. A line without LF can only be the last one: it ends its own
 * file, so the region that holds it reaches to the end of the base, and nothing follows such a
 * region.
 */
export function mergePieces({ base, ours, theirs, regions }: MergePlan): MergePiece[] {
  const pieces: MergePiece[] = []
  const settle = (bytes: Uint8Array): void => void pieces.push({ kind: 'settled', bytes })
  let baseAt = 0
  for (const { outcome, ...region } of regions) {
    settle(lineBytes(base, baseAt, region.baseStart - baseAt))
    if (outcome === 'conflict') pieces.push({ kind: 'conflict', region })
    else if (outcome !== 'theirs') settle(lineBytes(ours, region.oursStart, region.oursLength))
    else settle(lineBytes(theirs, region.theirsStart, region.theirsLength))
    baseAt = region.baseStart + region.baseLength
  }
  settle(lineBytes(base, baseAt, base.count - baseAt))
  return pieces
}
