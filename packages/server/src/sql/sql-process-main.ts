import { readSync, writeSync } from 'node:fs'
import { setPriority } from 'node:os'
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { addDataTable } from './data/data-table.ts'
import {
  contentPipe,
  dataPartBytes,
  noContent,
  type SqlReply,
  type SqlRequest,
  type SqlResult,
  type SqlResultValue,
} from './sql-messages.ts'
import {
  columnsOf,
  createTable,
  dataTable,
  entryColumns,
  insertInto,
  isReadable,
  isTreeView,
  schemaOf,
} from './tables.ts'

/**
 * Runs one statement at a time, for one caller. A process of its own, because nothing else can end a statement: SQLite
 * does not return before it has a row.
 */

const limits = {
  length: 16 << 20,
  sqlLength: 64 << 10,
  column: 256,
  exprDepth: 200,
  compoundSelect: 64,
  functionArg: 64,
  likePatternLength: 1000,
  variableNumber: 64,
  triggerDepth: 0,
  attach: 1,
}

// A statement may compute for seconds: what the server does for others goes first.
setPriority(10)

type PrepareRequest = Extract<SqlRequest, { type: 'prepare' }>
type RunRequest = Extract<SqlRequest, { type: 'run' }>

let current: { readonly db: DatabaseSync; readonly sql: string } | undefined

process.on('message', (request: SqlRequest) => {
  void answer(request).then((reply) => process.send!(reply))
})

async function answer(request: SqlRequest): Promise<SqlReply> {
  const dataTables: string[] = []
  try {
    return request.type === 'prepare' ? await prepare(request, dataTables) : run(request)
  } catch (error) {
    close()
    const { message, hint } = error as Error & { readonly hint?: string }
    return { type: 'refused', reason: message, dataTables, ...(hint === undefined ? {} : { hint }) }
  }
}

function close(): void {
  current?.db.close()
  current = undefined
}

/** On empty tables: what the statement reads decides what they are filled with. Only those of files are full: they have no columns before. */
async function prepare(
  { sql, comparisons, dataFiles }: PrepareRequest,
  dataTables: string[],
): Promise<SqlReply> {
  close()
  const db = new DatabaseSync(':memory:', { limits })
  current = { db, sql }
  // What a sorter or a temporary table needs must count as memory, which is watched, and not fill a disk.
  db.exec("pragma temp_store = memory; pragma trusted_schema = on; attach ':memory:' as tree")
  db.exec(createTable('tree.entries', entryColumns))
  db.function('content_of', { varargs: false }, contentOf)
  db.exec(schemaOf(comparisons))
  for (const [at, file] of dataFiles.entries())
    dataTables.push(
      await addDataTable(db, dataTable(at), { ...file, bytes: dataOf(at, file.size) }),
    )
  const reads = new Set<string>()
  db.setAuthorizer((...args) => authorize(reads, args))
  db.prepare(sql)
  return { type: 'prepared', reads: [...reads] }
}

type AuthorizerArgs = readonly [
  action: number,
  first: string | null,
  second: string | null,
  database: string | null,
  within: string | null,
]

/** Only reading, of the tables that are there for it. What stands in the views of the tree is ours. */
function authorize(reads: Set<string>, [action, first, second, , within]: AuthorizerArgs): number {
  const isOurs = within !== null && isTreeView(within)
  switch (action) {
    case constants.SQLITE_SELECT:
    case constants.SQLITE_RECURSIVE:
      return constants.SQLITE_OK
    case constants.SQLITE_FUNCTION:
      return second === 'content_of' && !isOurs ? constants.SQLITE_DENY : constants.SQLITE_OK
    case constants.SQLITE_READ:
      // A statement that only counts rows reads no column, and a table of its own has no other mark.
      if (isOurs || second === '') return note(reads, `${first}.`)
      if (!isReadable(first!)) return constants.SQLITE_DENY
      return note(reads, `${first}.${second}`)
    default:
      return constants.SQLITE_DENY
  }
}

function note(reads: Set<string>, column: string): number {
  reads.add(column)
  return constants.SQLITE_OK
}

function run({ tree, tables, limits: most }: RunRequest): SqlReply {
  if (!current) throw new Error('nothing was prepared')
  const { db, sql } = current
  db.setAuthorizer(null)
  for (const { name, rows } of tables) {
    const insert = db.prepare(insertInto(name, columnsOf(name)))
    for (const row of rows) insert.run(...row)
  }
  if (tree !== undefined) {
    db.exec('detach tree')
    db.exec(`attach 'file:${encodeURI(tree).replaceAll("'", '%27')}?mode=ro&immutable=1' as tree`)
  }
  db.setAuthorizer((...args) => authorize(new Set(), args))
  const result = read(db.prepare(sql), most)
  close()
  return { type: 'result', ...result, cpuMs: process.cpuUsage().user / 1000 }
}

function read(statement: StatementSync, most: RunRequest['limits']): SqlResult {
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  const columns = statement.columns().map(({ name }) => name)
  const rows: SqlResultValue[][] = []
  let bytes = 0
  // The types know rows as objects alone.
  for (const values of statement.iterate() as unknown as Iterable<readonly unknown[]>) {
    if (rows.length === most.rows) return { columns, rows, truncated: 'rows' }
    const row = values.map(toJson)
    bytes += JSON.stringify(row).length
    if (bytes > most.bytes) return { columns, rows, truncated: 'bytes' }
    rows.push(row)
  }
  return { columns, rows, truncated: null }
}

function toJson(value: unknown): SqlResultValue {
  if (typeof value === 'bigint')
    return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  // JSON has no infinity.
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') }
  return typeof value === 'string' ? value : null
}

function contentOf(ino: unknown, kind: unknown): string | null {
  if (kind !== 'file') return null
  writeSync(contentPipe, `${String(ino)}\n`)
  const length = readExactly(4).readUInt32LE()
  return length === noContent ? null : readExactly(length).toString('utf8')
}

function dataOf(file: number, size: number): Uint8Array {
  const bytes = Buffer.alloc(size)
  for (let at = 0; at < size; at += dataPartBytes) {
    writeSync(contentPipe, `${file} ${at}\n`)
    readExactly(readExactly(4).readUInt32LE()).copy(bytes, at)
  }
  return bytes
}

function readExactly(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length;) {
    const count = readSync(contentPipe, bytes, at, length - at, null)
    if (count === 0) throw new Error('the server is gone')
    at += count
  }
  return bytes
}
