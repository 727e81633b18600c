import { ApiError } from '../api-error.ts'

const limitMax = 100

export interface RowPage<Row> {
  readonly rows: readonly Row[]
  /** What asks for the next one. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * A part of a sorted list. The token names the last row seen, not its number, so that what comes and goes meanwhile
 * makes no row appear twice.
 */
export function pageOf<Row>(
  sorted: readonly Row[],
  keyOf: (row: Row) => string,
  query: URLSearchParams,
): RowPage<Row> {
  const limit = limitOf(query.get('limit'))
  const token = query.get('nextToken')
  const after = token === null ? undefined : Buffer.from(token, 'base64url').toString()
  const start = after === undefined ? 0 : startAfter(sorted, keyOf, after)
  const rows = sorted.slice(start, start + limit)
  const last = rows.at(-1)
  if (last === undefined || start + limit >= sorted.length) return { rows, headers: {} }
  return { rows, headers: { 'x-next-token': Buffer.from(keyOf(last)).toString('base64url') } }
}

function startAfter<Row>(
  sorted: readonly Row[],
  keyOf: (row: Row) => string,
  after: string,
): number {
  const keys = sorted.map(keyOf)
  const found = keys.indexOf(after)
  if (found >= 0) return found + 1
  // It is gone: go on where it would have stood. Lists run up or down.
  const runsDown = keys.length > 1 && (keys[0] ?? '') > (keys.at(-1) ?? '')
  const next = keys.findIndex((key) => (runsDown ? key < after : key > after))
  return next < 0 ? sorted.length : next
}

function limitOf(text: string | null): number {
  if (text === null) return limitMax
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= limitMax) return limit
  throw new ApiError(400, `limit must be from 1 to ${limitMax}`)
}
