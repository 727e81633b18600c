import type { Dialect } from '../dialect.ts'

export const sqliteDialect: Dialect = {
  types: {
    key: 'BLOB',
    integer: 'INTEGER',
    bytes: 'BLOB',
    serial: 'INTEGER PRIMARY KEY',
  },
  // Without it, a column takes a value of any type and gives it back as it came.
  tableEnd: 'STRICT',
  onTaken: (key, columns) =>
    columns.length === 0
      ? `ON CONFLICT (${key.join(', ')}) DO NOTHING`
      : `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}`,
  clearOnTaken: (key, column) => `ON CONFLICT (${key.join(', ')}) DO UPDATE SET ${column} = NULL`,
  findColumn: (table, column) =>
    `SELECT 1 AS found FROM pragma_table_info('${table}') WHERE name = '${column}'`,
}
