import type { DatabaseSync } from 'node:sqlite'
import { readCsv } from './csv.ts'
import { type DataFile, spellDataFile } from './data-file-name.ts'
import { type DataColumn, DataError, type DataRows } from './data-rows.ts'
import { readJson } from './json-rows.ts'
import { readParquet } from './parquet.ts'

const columnsMax = 200

/** Makes a table of a file. Gives how a statement spells it, with its columns. */
export async function addDataTable(
  db: DatabaseSync,
  table: string,
  file: DataFile,
): Promise<string> {
  try {
    const data = await readRows(file)
    const { columns } = data
    const named = namesOf(columns)
    if (named.length === 0) throw new DataError('it is empty, so it has no columns')
    if (named.length > columnsMax)
      throw new DataError(`it has ${named.length} columns, and a table at most ${columnsMax}`)
    const list = named.map((name, at) => `${quoted(name)} ${columns[at]!.type ?? ''}`)
    db.exec(`create table ${table} (${list.join(', ')})`)
    const insert = db.prepare(`insert into ${table} values (${named.map(() => '?').join(', ')})`)
    db.exec('begin')
    for await (const row of data.rows()) insert.run(...named.map((_, at) => valueOf(row[at])))
    db.exec('commit')
    return `${spellDataFile(file)}(${named.join(', ')})`
  } catch (error) {
    if (!(error instanceof DataError)) throw error
    const { message, hint } = error
    throw new DataError(`${file.path} cannot be read as ${file.format}: ${message}`, {
      ...(hint === undefined ? {} : { hint }),
      cause: error,
    })
  }
}

function readRows({ format, path, bytes }: DataFile): DataRows | Promise<DataRows> {
  if (format === 'parquet') return readParquet(bytes)
  return format === 'csv' ? readCsv(textOf(bytes), path) : readJson(textOf(bytes))
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new DataError('its bytes are not UTF-8', { cause })
  }
}

/** For SQLite names that differ in case alone are the same. */
function namesOf(columns: readonly DataColumn[]): readonly string[] {
  const taken = new Set<string>()
  return columns.map(({ name }, at) => {
    const own = name.trim() || `column_${at + 1}`
    let free = own
    for (let count = 2; taken.has(free.toLowerCase()); count++) free = `${own}_${count}`
    taken.add(free.toLowerCase())
    return free
  })
}

function quoted(name: string): string {
  return `"${name.replaceAll('\0', '').replaceAll('"', '""')}"`
}

type SqliteValue = string | number | bigint | Uint8Array | null

const integersFrom = -(2n ** 63n)
const integersBelow = 2n ** 63n

/** Integers stay integers, times become ISO 8601, lists and objects JSON. */
function valueOf(value: unknown): SqliteValue {
  if (value === undefined || value === null) return null
  if (typeof value === 'boolean') return value ? 1n : 0n
  if (typeof value === 'number') return Number.isSafeInteger(value) ? BigInt(value) : value
  if (typeof value === 'bigint')
    return value >= integersFrom && value < integersBelow ? value : String(value)
  if (typeof value === 'string' || value instanceof Uint8Array) return value
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString()
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'bigint' ? Number(each) : each,
  )
}
