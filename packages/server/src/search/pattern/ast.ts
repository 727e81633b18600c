import type { CodeRanges } from './ranges.ts'

/** Things that are true of a place between two characters. */
export const looks = [
  'line-start',
  'line-end',
  'text-start',
  'text-end',
  'boundary',
  'no-boundary',
  /** No word character before, or after, it: what `-w` puts around a pattern. */
  'word-start',
  'word-end',
] as const
export type Look = (typeof looks)[number]

/** A pattern as a tree. Groups leave no trace: only whole matches are asked for. */
export type Ast =
  | { readonly type: 'characters'; readonly set: CodeRanges }
  | { readonly type: 'bytes'; readonly set: CodeRanges }
  | { readonly type: 'look'; readonly look: Look; readonly isUnicode: boolean }
  | { readonly type: 'concat'; readonly parts: readonly Ast[] }
  | { readonly type: 'either'; readonly parts: readonly Ast[] }
  | {
      readonly type: 'repeat'
      readonly part: Ast
      readonly min: number
      readonly max: number
      readonly isGreedy: boolean
    }

export const empty: Ast = { type: 'concat', parts: [] }

/** What is wrong with a pattern, for the person who typed it. */
export class PatternError extends Error {
  override readonly name = 'PatternError'
}
