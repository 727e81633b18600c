import type { DataRows } from './data-rows.ts'
import { DataError } from './data-rows.ts'

type Field = string | null

const integer = /^-?(?:0|[1-9]\d{0,17})$/
const real = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?$/

/**
 * The first row has the names. A column is of integers or of numbers where all of its fields are, else of text: `007` is
 * text. An empty field is null.
 */
export function readCsv(text: string, path: string): DataRows {
  const separator = /\.tsv$/i.test(path) ? '\t' : ','
  const [heading] = csvRows(text, separator)
  if (!heading) return { columns: [], rows: () => [] }
  const types = heading.map(() => 'integer' as 'integer' | 'real' | 'text')
  const isEmpty = heading.map(() => true)
  for (const row of bodyOf(text, separator, heading.length))
    for (const [at, field] of row.entries()) {
      if (field === null) continue
      isEmpty[at] = false
      if (types[at] === 'integer' && !integer.test(field)) types[at] = 'real'
      if (types[at] === 'real' && !real.test(field)) types[at] = 'text'
    }
  return {
    columns: heading.map((name, at) => ({
      name: name ?? '',
      type: isEmpty[at] ? 'text' : types[at]!,
    })),
    // SQLite makes numbers of them: that is what the column's type asks for.
    rows: () => bodyOf(text, separator, heading.length),
  }
}

function* bodyOf(text: string, separator: string, width: number): Generator<readonly Field[]> {
  let number = 0
  for (const row of csvRows(text, separator)) {
    if (++number === 1) continue
    if (row.length > width)
      throw new DataError(`row ${number} has ${row.length} fields, and the first row ${width}`)
    yield row
  }
}

/** Rows as RFC 4180 has them. An empty line is no row. */
function* csvRows(text: string, separator: string): Generator<readonly Field[]> {
  // With a quote in the middle a field is what it looks like.
  const field = new RegExp(
    `(?:"([^"]*(?:""[^"]*)*)"|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`,
    'y',
  )
  let row: Field[] = []
  let count = 1
  while (field.lastIndex < text.length || row.length > 0) {
    const [, quoted, plain, end] = field.exec(text)!
    if (plain?.startsWith('"')) throw new DataError(`row ${count} has a quote that is not closed`)
    row.push(quoted === undefined ? plain || null : quoted.replaceAll('""', '"'))
    if (end === separator) continue
    if (row.length > 1 || row[0] !== null) {
      yield row
      count++
    }
    row = []
  }
}
