import { joinNames, pathOf, readFile, TreeView } from '@cairn/core'
import { allows, type Ino } from '@cairn/protocol'
import type { Scope } from '../access/access.ts'
import type { JournalKeeper } from '../journal/journal-keeper.ts'
import { openSearchTarget, type SearchRequest, type SearchTarget } from '../search/search-target.ts'
import { lastActors } from '../history/last-actors.ts'
import { readDataFiles } from './data/read-data-files.ts'
import { changeRows, sideRows } from './side-rows.ts'
import { dataPartBytes, type SqlReply, type SqlResult } from './sql-messages.ts'
import type { SqlProcesses, StatementContents } from './sql-process.ts'
import { type Comparison, readStatement, refused } from './statement.ts'
import { changesTable, publicTables, sideTableNames, type SqlRow } from './tables.ts'
import { isListed } from './tree-database.ts'
import type { TreeDatabases } from './tree-databases.ts'

/** What runs statements: processes, and the trees that they read. */
export interface SqlParts {
  readonly processes: SqlProcesses
  readonly databases: TreeDatabases
  /** For one statement. */
  readonly timeMs: number
}

export interface SqlRequestTarget extends SearchRequest {
  readonly scope: Scope | undefined
  /** Absent where the server has no master key, and so no journals. */
  readonly journals: JournalKeeper | undefined
}

export const ordinarySqlMs = 10_000
/** Long enough to start a process on a busy machine. */
const prepareMs = 20_000
const resultBytesMax = 16 << 20
/** For one file, and for all that one statement reads. */
const textBytesMax = 1 << 20
const textsBytesMax = 256 << 20

/** Runs one statement on the tree of a point, as the caller sees it. */
export async function runSql(
  { processes, databases, timeMs }: SqlParts,
  target: SqlRequestTarget,
  text: string,
  rowsMax: number,
): Promise<SqlResult> {
  const { sql, comparisons, dataFiles } = readStatement(text)
  const tree = await openSearchTarget(target)
  const files = await readDataFiles(tree, dataFiles)
  const contents: StatementContents = {
    text: textReader(tree),
    data: (file, offset) => files[file]!.bytes.subarray(offset, offset + dataPartBytes),
  }
  return processes.run(contents, async (process) => {
    const prepared = accepted(
      await process.ask(
        {
          type: 'prepare',
          sql,
          comparisons: comparisons.length,
          dataFiles: files.map(({ format, path, bytes }) => ({ format, path, size: bytes.length })),
        },
        prepareMs,
      ),
    )
    const reads = new Set(prepared.type === 'prepared' ? prepared.reads : [])
    const tables = await fillTables(target, reads, comparisons)
    const limits = { rows: rowsMax, bytes: resultBytesMax }
    const run = async (path: string | undefined): Promise<SqlResult> => {
      const reply = accepted(await process.ask({ type: 'run', tree: path, tables, limits }, timeMs))
      if (reply.type !== 'result') throw new Error('a statement gave another answer')
      const { columns, rows, truncated } = reply
      return { columns, rows, truncated }
    }
    if (!treeTables.some((table) => readsTable(reads, table))) return run(undefined)
    return databases.read(target.workspace.info.id, tree, run)
  })
}

function accepted(reply: SqlReply): SqlReply {
  if (reply.type !== 'refused') return reply
  const isDenied = /not authorized|prohibited|^cannot modify /.test(reply.reason)
  throw refused(
    isDenied ? 'it may only read, and only these tables' : reply.reason,
    reply.hint ?? `The tables are ${[...(reply.dataTables ?? []), ...publicTables].join('; ')}.`,
  )
}

/** What SQLite calls the table of the tree depends on how it works a view into the statement. */
const treeTables = ['files', 'tags', 'entries'] as const

function readsTable(reads: ReadonlySet<string>, table: string): boolean {
  return [...reads].some((column) => column.startsWith(`${table}.`))
}

interface FilledTable {
  readonly name: string
  readonly rows: readonly SqlRow[]
}

async function fillTables(
  target: SqlRequestTarget,
  reads: ReadonlySet<string>,
  comparisons: readonly Comparison[],
): Promise<readonly FilledTable[]> {
  const tables: FilledTable[] = []
  for (const [at, comparison] of comparisons.entries())
    tables.push({ name: changesTable(at), rows: await changeRows(target, comparison) })
  for (const name of sideTableNames)
    if (readsTable(reads, name)) tables.push({ name, rows: await sideRows[name](target) })
  if (reads.has('files.actor')) {
    const actors = await lastActors(target.workspace, target, target.asker.gone)
    // A statement may come by more of a table than the view `files` shows of it.
    const isSeen = ([path]: readonly [string, string]): boolean =>
      isListed(target.scope?.grant, Buffer.from(path).toString('latin1'))
    tables.push({ name: 'actors', rows: [...actors].filter(isSeen) })
  }
  return tables
}

/** The text of a file that the caller may read. */
function textReader({
  nodes,
  blobs,
  snapshot,
  view,
  grant,
}: SearchTarget): StatementContents['text'] {
  const whole = new TreeView(nodes, snapshot)
  let left = textsBytesMax
  return async (number) => {
    const ino = number as Ino
    const inode = await nodes.read(() => {
      const names = pathOf(view, ino)
      if (grant && (!names || !allows(grant, 'read', joinNames(names)))) return undefined
      return view.inode(ino)
    })
    if (inode?.kind !== 'file' || inode.size > textBytesMax) return undefined
    left -= inode.size
    if (left < 0)
      throw refused(
        `the files whose text it reads have more than ${textsBytesMax >> 20} MiB`,
        'Add a condition on path, ext or size, or use grep.',
      )
    const bytes = await readFile(nodes, blobs, whole, ino, inode)
    return isText(bytes) ? bytes : undefined
  }
}

function isText(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return true
  } catch {
    return false
  }
}
