import type { Database } from '../storage/database.ts'
import type { MysqlConfig } from '../storage/mysql/config.ts'
import { statementBytesMax } from '../storage/statements.ts'
import { checkClock } from './clock-skew.ts'
import { fail, type Finding, ok, warn } from './report.ts'

/** What Cairn needs of MariaDB, MySQL or TiDB besides what the cases ask. */
export async function checkMysql(
  database: Database,
  config: MysqlConfig,
): Promise<readonly Finding[]> {
  const read = await readVariables(database)
  return [
    await describeVersion(database),
    checkIsolation(read('transaction_isolation') ?? read('tx_isolation')),
    checkPacket(read('max_allowed_packet')),
    checkFlush(read('innodb_flush_log_at_trx_commit')),
    await checkClock('the database', () => readTime(database)),
    await checkPrivileges(database, config),
  ]
}

/** By SHOW and not by `@@`, which is an error where a variable is not known: these three servers differ. */
async function readVariables(database: Database): Promise<(name: string) => string | undefined> {
  const rows = await database.query('SHOW GLOBAL VARIABLES', [])
  const values = new Map(
    rows.map(({ Variable_name: name, Value }) => [String(name), String(Value)]),
  )
  return (name) => values.get(name)
}

async function describeVersion(database: Database): Promise<Finding> {
  const [row] = await database.query('SELECT VERSION() AS version', [])
  return ok('version', String(row!['version']))
}

/** A query must not see what is not committed; everything else rests on counted rows, which every level counts alike. */
function checkIsolation(level = 'unknown'): Finding {
  const words = level.toLowerCase().replaceAll('-', ' ')
  const isEnough = ['read committed', 'repeatable read', 'serializable'].includes(words)
  return isEnough
    ? ok('isolation level', words)
    : fail(
        'isolation level',
        `${words}: reads see what may never be committed`,
        "SET GLOBAL tx_isolation = 'REPEATABLE-READ'; and the same in the server's configuration",
      )
}

function checkPacket(value: string | undefined): Finding {
  // Beside the values there are the text of the statement and the lengths.
  const needed = statementBytesMax + (1 << 20)
  const bytes = Number(value)
  const says = `${bytes >> 20} MiB`
  return bytes >= needed
    ? ok('max_allowed_packet', says)
    : fail(
        'max_allowed_packet',
        `${says}, and statements have up to ${needed >> 20} MiB`,
        `SET GLOBAL max_allowed_packet = ${16 << 20}; and the same in the server's configuration`,
      )
}

function checkFlush(value: string | undefined): Finding {
  const name = 'innodb_flush_log_at_trx_commit'
  if (value === undefined || value === '1') return ok('commits', 'each waits for the disk')
  return fail(
    'commits',
    `${name} = ${value}: a crash of its machine loses up to a second of what was acknowledged`,
    `SET GLOBAL ${name} = 1; and the same in the server's configuration`,
  )
}

async function readTime(database: Database): Promise<number> {
  const sql = 'SELECT CAST(UNIX_TIMESTAMP(NOW(6)) * 1000 AS SIGNED) AS now_ms'
  const [row] = await database.query(sql, [])
  return Number(row!['now_ms'])
}

const privileges = ['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'CREATE', 'ALTER']

/** Those on the operator's own database, where nothing is tried. What a role gives is not in these tables. */
async function checkPrivileges(
  database: Database,
  { database: schema, user }: MysqlConfig,
): Promise<Finding> {
  const sql =
    'SELECT privilege_type AS privilege FROM information_schema.user_privileges ' +
    'UNION SELECT privilege_type FROM information_schema.schema_privileges WHERE ? LIKE table_schema'
  const rows = await database.query(sql, [Buffer.from(schema)])
  const granted = new Set(rows.map(({ privilege }) => String(privilege)))
  const missing = privileges.filter((each) => !granted.has(each))
  if (missing.length === 0) return ok('privileges', `${privileges.join(', ')} on ${schema}`)
  return warn(
    'privileges',
    `${user} has no ${missing.join(', ')} on ${schema}, unless by a role`,
    `GRANT ${missing.join(', ')} ON \`${schema}\`.* TO '${user}'`,
  )
}
