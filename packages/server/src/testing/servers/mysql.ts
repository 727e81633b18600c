import mysql from 'mysql2/promise'
import { parseMysqlUrl } from '../../storage/mysql/config.ts'
import { MariadbServer, whyNoMariadb } from './mariadb.ts'
import { askShared } from './shared.ts'

/** A server of the operator's own, as `mysql://user:password@host:port/database`; the database itself is not used. */
const outside = process.env['CAIRN_TEST_MYSQL']

export const whyNoMysql: string | undefined = outside === undefined ? whyNoMariadb : undefined

/** A database server that tests share with others, and therefore neither stop nor configure. */
export interface MysqlServer {
  /** Makes an empty database and gives its URL. */
  createDatabase(): Promise<string>
  /** Leaves nothing behind. */
  stop(): Promise<void>
}

/** The server of CAIRN_TEST_MYSQL, or the MariaDB of this run. */
export async function startMysql(): Promise<MysqlServer> {
  const url = outside ?? (await askShared<string>('mysql'))
  return url === undefined ? MariadbServer.start() : new SharedServer(url)
}

class SharedServer implements MysqlServer {
  readonly #url: string
  readonly #databases: string[] = []

  constructor(url: string) {
    this.#url = url
  }

  async createDatabase(): Promise<string> {
    const name = `cairn_test_${crypto.randomUUID().replaceAll('-', '')}`
    await this.#run([`CREATE DATABASE ${name}`])
    this.#databases.push(name)
    const url = new URL(this.#url)
    url.pathname = `/${name}`
    return url.href
  }

  async stop(): Promise<void> {
    await this.#run(this.#databases.splice(0).map((name) => `DROP DATABASE ${name}`))
  }

  async #run(statements: readonly string[]): Promise<void> {
    const { host, port, user, password, tls } = parseMysqlUrl(this.#url)
    const ssl = tls ? { ssl: {} } : {}
    const connection = await mysql.createConnection({ host, port, user, password, ...ssl })
    try {
      for (const sql of statements) await connection.query(sql)
    } finally {
      connection.destroy()
    }
  }
}
