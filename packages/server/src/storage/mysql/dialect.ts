import { type Dialect, keyBytesMax } from '../dialect.ts'

/** What MariaDB, MySQL and TiDB all take. */
export const mysqlDialect: Dialect = {
  types: {
    key: `VARBINARY(${keyBytesMax})`,
    integer: 'BIGINT',
    bytes: 'LONGBLOB',
    serial: 'BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY',
  },
  tableEnd: 'ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin',
  // The `AS new` form is a syntax error in MariaDB, INSERT IGNORE would hide other errors than a taken key.
  onTaken: ([first], columns) =>
    `ON DUPLICATE KEY UPDATE ${(columns.length === 0
      ? [`${first} = ${first}`]
      : columns.map((column) => `${column} = VALUES(${column})`)
    ).join(', ')}`,
  clearOnTaken: (_, column) => `ON DUPLICATE KEY UPDATE ${column} = NULL`,
  findColumn: (table, column) =>
    `SELECT 1 AS found FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = '${table}' AND column_name = '${column}'`,
}
