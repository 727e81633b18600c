import type { Needs } from '../pattern/needs.ts'
import type { SearchSpec } from '../scan-messages.ts'
import type { IndexClause } from './index-messages.ts'

/** What the index is asked: which contents hold a text of each clause. */
export interface Lookup {
  readonly clauses: readonly IndexClause[]
  /** Binary files are searched, too. */
  readonly isText: boolean
}

/** Undefined for a search that the index cannot narrow: every file may be part of the answer. */
export function lookupOf(needs: Needs, { isInverted, isText }: SearchSpec): Lookup | undefined {
  if (isInverted) return undefined
  const clauses = needs.filter((texts) => texts.every((text) => text.length >= 3))
  return clauses.length === 0 ? undefined : { clauses, isText }
}
