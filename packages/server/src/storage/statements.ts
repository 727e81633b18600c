import type { SqlValue, Statement } from './database.ts'

/**
 * MariaDB drops the connection without a word at 16 MiB, so statements stay at half of it. A single row may be
 * larger than that only where its caller has seen to it.
 */
export const statementBytesMax: number = 8 << 20
/** Bounds how many different texts a database has to prepare. */
const rowsMax = 256

export interface Insert {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly SqlValue[])[]
  /** From `Dialect.onTaken`. Without it a key that is taken is a conflict. */
  readonly onTaken?: string
}

/**
 * Many rows in few statements: one round trip for many rows is five times as fast as one for each. More than
 * one statement where their bytes would be too many for one.
 */
export function insertStatements({ table, columns, rows, onTaken }: Insert): Statement[] {
  const row = `(${columns.map(() => '?').join(', ')})`
  const head = `INSERT INTO ${table} (${columns.join(', ')}) VALUES `
  return groupRows(rows).map((group) => ({
    sql: `${head}${group.map(() => row).join(', ')}${onTaken === undefined ? '' : ` ${onTaken}`}`,
    params: group.flat(),
  }))
}

function groupRows<T extends readonly SqlValue[]>(rows: readonly T[]): T[][] {
  const groups: T[][] = []
  let group: T[] = []
  let bytes = 0
  for (const row of rows) {
    const rowBytes = valueBytes(row)
    if (group.length === rowsMax || bytes + rowBytes > statementBytesMax) {
      groups.push(group)
      group = []
      bytes = 0
    }
    group.push(row)
    bytes += rowBytes
  }
  groups.push(group)
  return groups.filter(({ length }) => length > 0)
}

/** About what the values weigh on the wire. */
export function valueBytes(values: readonly SqlValue[]): number {
  return values.reduce<number>(
    (sum, value) => sum + (value instanceof Uint8Array ? value.length : 0) + 8,
    0,
  )
}

/** For an `IN (…)` with these. */
export function marksFor(values: readonly unknown[]): string {
  return values.map(() => '?').join(', ')
}
