import { CairnError } from '@cairn/protocol'
import { changesTable } from './tables.ts'

/** Two points that a statement compares. */
export interface Comparison {
  readonly from: string
  readonly to: string
}

export interface Statement {
  /** With the name of a table for each `changes('FROM', 'TO')`. */
  readonly sql: string
  readonly comparisons: readonly Comparison[]
}

/**
 * Text in quotes, and comments: nothing in them is SQL. What has no end goes to the end of the text: were it no match,
 * each of a thousand brackets would be read to the end again.
 */
const opaque = new RegExp(
  [
    /'(?:[^']|'')*(?:'|$)/,
    /"(?:[^"]|"")*(?:"|$)/,
    /`[^`]*(?:`|$)/,
    /\[[^\]]*(?:\]|$)/,
    /--[^\n]*/,
    /\/\*[^]*?(?:\*\/|$)/,
  ]
    .map(({ source }) => source)
    .join('|'),
)
const call = /\bchanges\s*\(\s*('(?:[^']|'')*')\s*,\s*('(?:[^']|'')*')\s*\)/
const comparisonsMax = 4

/**
 * SQLite's functions for tables are written in C, so `changes('base', 'head')` becomes the name of a table that holds the
 * difference. Refuses a second statement: SQLite would pass over it in silence.
 */
export function readStatement(text: string): Statement {
  const comparisons: Comparison[] = []
  const tokens = new RegExp(`${call.source}|${opaque.source}|;`, 'gi')
  let end: number | undefined
  const sql = text.replaceAll(tokens, (token: string, from?: string, to?: string, ...rest) => {
    const at = rest.find((each): each is number => typeof each === 'number')!
    if (token === ';') end ??= at
    if (from === undefined || to === undefined) return token
    const comparison = { from: unquote(from), to: unquote(to) }
    const known = comparisons.findIndex(
      (each) => each.from === comparison.from && each.to === comparison.to,
    )
    if (known === -1) comparisons.push(comparison)
    return changesTable(known === -1 ? comparisons.length - 1 : known)
  })
  const rest = end === undefined ? '' : text.slice(end + 1).replaceAll(tokens, noComment)
  if (rest.trim() !== '')
    throw refused('one request runs one statement', 'Send the statements one by one.')
  if (comparisons.length > comparisonsMax)
    throw refused(
      `it compares ${comparisons.length} pairs of points, and at most ${comparisonsMax} may be compared`,
      'Compare fewer points in one statement.',
    )
  return { sql, comparisons }
}

export function refused(reason: string, hint: string): CairnError {
  return new CairnError('invalid_argument', { what: 'run the SQL', reason, hint, subject: 'sql' })
}

function unquote(literal: string): string {
  return literal.slice(1, -1).replaceAll("''", "'")
}

function noComment(token: string): string {
  return token.startsWith('--') || token.startsWith('/*') || token === ';' ? ' ' : token
}
