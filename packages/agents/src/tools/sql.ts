import type { SqlCell } from '@cairn/sdk'
import { z } from 'zod'
import { limit, readPlace } from '../fields.ts'
import { openPlace } from '../open-place.ts'
import { answerCharsMax, cutLine } from '../text/bounds.ts'
import { defineTool, type Tool } from '../tool.ts'

const cell = z.union([z.string(), z.number(), z.null()])

export const sql: Tool = defineTool({
  name: 'sql',
  title: 'Ask in SQL',
  description:
    'Runs one SELECT of SQLite. Tables: files (path, name, ext, kind, size, mode, mtime, version, actor, text), ' +
    "changes('base', 'head') of an attempt (path, kind, file_kind, from_path), log (seq, time, actor, tool_call, op, path, " +
    "to_path), layers, checkpoints, and files: read_csv('/a.csv'), read_json('/a.json'), read_parquet('/a.parquet'). " +
    'For counts and lists over many files; to search in text, grep is faster.',
  needs: ['search'],
  effect: 'reads',
  input: z.object({
    sql: z.string().min(1).max(8192).describe('select ext, count(*) from files group by ext'),
    limit: limit(100, 1000).describe('Rows'),
    ...readPlace,
  }),
  output: z.object({
    columns: z.array(z.string()),
    rows: z.array(z.array(cell)).describe('Values in the order of the columns'),
    truncated: z.boolean().describe('There are more rows: add limit and offset to the statement'),
  }),
  async run({ sql, limit, ...where }, site) {
    const answer = await openPlace(site, where).sql(sql, { limit, signal: site.signal })
    const { columns } = answer
    const rows = fitting(answer.rows.map((row) => row.map(plain)))
    const truncated = answer.truncated !== null || rows.length < answer.rows.length
    const table = [columns, ...rows].map((row) => row.map(shown).join('\t')).join('\n')
    const rest = truncated
      ? `\n[More than these ${rows.length} rows. Add "limit" and "offset" to the statement.]`
      : ''
    const text = rows.length === 0 && !truncated ? `No row. (${columns.join(', ')})` : table + rest
    return { text, data: { columns: [...columns], rows, truncated } }
  },
})

type Cell = z.output<typeof cell>

function plain(value: SqlCell): Cell {
  if (value === null || typeof value === 'number') return value
  return cutLine(typeof value === 'object' ? value.base64 : value)
}

/** One row is one line. */
const shown = (value: Cell): string =>
  value === null ? '' : String(value).replaceAll(/[\t\r\n]+/g, ' ')

/** As many of the first rows as an answer has room for. */
function fitting(rows: readonly Cell[][]): Cell[][] {
  let chars = 0
  const end = rows.findIndex((row) => {
    for (const value of row) chars += shown(value).length + 1
    return chars > answerCharsMax
  })
  return end < 0 ? [...rows] : rows.slice(0, end)
}
