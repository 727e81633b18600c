import type { SqlCell } from '@cairn/sdk'
import { type Command, defineCommand } from '../arguments/command.ts'
import { readerOptions } from '../context/credentials.ts'
import { openRemote } from '../remote/open.ts'

const rowsMax = 10_000

export const command: Command = defineCommand({
  summary: 'Run a SELECT on files, tags, changes, the log, layers, checkpoints and journals',
  description:
    "The tables are files, tags, changes('FROM', 'TO'), log, layers, checkpoints and journal, and files of the workspace:\n" +
    "read_csv('/a.csv'), read_json('/a.json') and read_parquet('/a.parquet'). SQLite's functions work. The statement sees\n" +
    'the workspace as it is now, or a layer or checkpoint with --layer and --at. docs/guides/sql.md lists the columns.',
  arguments: { query: { summary: 'One SELECT statement' } },
  options: {
    ...readerOptions,
    limit: {
      kind: 'count',
      short: 'n',
      value: 'N',
      summary: `So many rows at most; ${rowsMax} unless given`,
    },
    csv: { kind: 'flag', summary: 'Print comma-separated values with a header line' },
  },
  examples: [
    {
      command:
        'cairn sql "select path, size, actor from files where ext = \'ts\' order by mtime desc limit 10"',
      does: 'the newest files and who changed them last',
    },
    {
      command:
        "cairn sql --at tests-pass \"select f.path from files f join changes('base','head') c using (path) where c.kind = 'modified'\"",
      does: 'what was there at a checkpoint and changed in the layer',
    },
    {
      command: "cairn sql \"select path from files where ext = 'md' and text like '%TODO%'\"",
      does: 'find files with a text',
    },
    {
      command:
        'cairn sql "select city, avg(price) from read_csv(\'/data/sales.csv\') group by city"',
      does: 'ask a CSV file',
    },
  ],
  async run({ args: { query }, options, cli }) {
    const { workspace } = await openRemote(cli, options, ':/')
    const { limit = rowsMax } = options
    const { columns, rows, truncated } = await workspace.sql(query, { limit, signal: cli.signal })
    if (cli.isJson) for (const row of rows) await cli.out.json(objectOf(columns, row))
    else if (options.csv)
      for (const row of [columns, ...rows]) await cli.out.line(row.map(csvOf).join(','))
    else if (columns.length > 0)
      await cli.out.table(
        [columns.map((column) => column.toUpperCase()), ...rows.map((row) => row.map(textOf))],
        numberColumns(rows),
      )
    if (truncated !== null)
      await cli.err.line(
        `cairn sql: there are more rows than ${rows.length} (${truncated}); add a condition or count them`,
      )
  },
})

function objectOf(columns: readonly string[], row: readonly SqlCell[]): object {
  return Object.fromEntries(columns.map((column, index) => [column, row[index] ?? null]))
}

function textOf(value: SqlCell): string {
  if (value === null) return ''
  const text = typeof value === 'object' ? value.base64 : String(value)
  // One row is one line, and nothing in a file's text moves the cursor.
  return text.replaceAll(/\p{Cc}/gu, ' ')
}

function csvOf(value: SqlCell): string {
  const text = value === null ? '' : typeof value === 'object' ? value.base64 : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function numberColumns(rows: readonly (readonly SqlCell[])[]): readonly number[] {
  const first = rows[0] ?? []
  return first.flatMap((value, index) => (typeof value === 'number' ? [index] : []))
}
