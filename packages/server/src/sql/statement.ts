import { CairnError } from '@cairn/protocol'
import type { DataFileName, DataFormat } from './data/data-file-name.ts'
import { changesTable, dataTable } from './tables.ts'

/** Two points that a statement compares. */
export interface Comparison {
  readonly from: string
  readonly to: string
}

export interface Statement {
  /** With the name of a table for each `changes('FROM', 'TO')` and each file. */
  readonly sql: string
  readonly comparisons: readonly Comparison[]
  readonly dataFiles: readonly DataFileName[]
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
const literal = "'(?:[^']|'')*'"
const calls = [
  `\\bchanges\\s*\\(\\s*(?<from>${literal})\\s*,\\s*(?<to>${literal})\\s*\\)`,
  `\\bread_(?<format>csv|json|parquet)\\s*\\(\\s*(?<path>${literal})\\s*\\)`,
].join('|')
const comparisonsMax = 4
const dataFilesMax = 4

type Token = Readonly<Record<'from' | 'to' | 'format' | 'path', string | undefined>>

/**
 * SQLite's functions for tables are written in C, so `changes('base', 'head')` becomes the name of a table that holds the
 * difference, and `read_csv('/a.csv')` that of a table with the file's rows. Refuses a second statement: SQLite would pass
 * over it in silence.
 */
export function readStatement(text: string): Statement {
  const comparisons: Comparison[] = []
  const dataFiles: DataFileName[] = []
  const tokens = new RegExp(`${calls}|${opaque.source}|;`, 'gi')
  let end: number | undefined
  const sql = text.replaceAll(tokens, (token: string, ...rest) => {
    const at = rest.find((each): each is number => typeof each === 'number')!
    const { from, to, format, path } = rest.at(-1) as Token
    if (token === ';') end ??= at
    if (from !== undefined && to !== undefined)
      return changesTable(placeIn(comparisons, { from: unquote(from), to: unquote(to) }))
    if (format === undefined || path === undefined) return token
    const file = { format: format.toLowerCase() as DataFormat, path: unquote(path) }
    return dataTable(placeIn(dataFiles, file))
  })
  const rest = end === undefined ? '' : text.slice(end + 1).replaceAll(tokens, noComment)
  if (rest.trim() !== '')
    throw refused('one request runs one statement', 'Send the statements one by one.')
  if (comparisons.length > comparisonsMax)
    throw refused(
      `it compares ${comparisons.length} pairs of points, and at most ${comparisonsMax} may be compared`,
      'Compare fewer points in one statement.',
    )
  if (dataFiles.length > dataFilesMax)
    throw refused(
      `it reads ${dataFiles.length} files as tables, and at most ${dataFilesMax} may be read`,
      'Read fewer files in one statement.',
    )
  return { sql, comparisons, dataFiles }
}

/** Where it is in the list, which has it then. */
function placeIn<T extends object>(list: T[], item: T): number {
  const known = list.findIndex((each) => JSON.stringify(each) === JSON.stringify(item))
  return known === -1 ? list.push(item) - 1 : known
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
