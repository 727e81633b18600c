import type { Database } from '../storage/database.ts'
import { migrate } from '../storage/migrate.ts'
import { describePlace, type MysqlConfig } from '../storage/mysql/config.ts'
import { MysqlDatabase } from '../storage/mysql/mysql-database.ts'
import { checkMysql } from './mysql-checks.ts'
import type { VerifyPlace } from './place.ts'
import type { Finding } from './report.ts'

/** Scratch schemas beside the operator's own, on the same server. */
export class MysqlPlace implements VerifyPlace<Database> {
  readonly name: string
  readonly makeHint: string
  readonly #config: MysqlConfig
  readonly #home: Database
  readonly #opened = new Map<string, Database>()

  private constructor(config: MysqlConfig, home: Database) {
    this.#config = config
    this.#home = home
    this.name = describePlace(config)
    this.makeHint = `Allow schemas for this check: GRANT ALL ON \`cairn\\_verify\\_%\`.* TO '${config.user}'`
  }

  static async open(config: MysqlConfig): Promise<MysqlPlace> {
    return new MysqlPlace(config, await MysqlDatabase.open(config))
  }

  async list(): Promise<readonly string[]> {
    const sql = 'SELECT schema_name AS name FROM information_schema.schemata'
    return (await this.#home.query(sql, [])).map(({ name }) => String(name))
  }

  async make(name: string): Promise<Database> {
    await this.#home.transact([{ sql: `CREATE DATABASE ${name}`, params: [] }])
    const database = await MysqlDatabase.open({ ...this.#config, database: name })
    this.#opened.set(name, database)
    await migrate(database)
    return database
  }

  async remove(name: string): Promise<void> {
    await this.#opened.get(name)?.close()
    this.#opened.delete(name)
    await this.#home.transact([{ sql: `DROP DATABASE IF EXISTS ${name}`, params: [] }])
  }

  removal(name: string): string {
    return `DROP DATABASE ${name};`
  }

  check(): Promise<readonly Finding[]> {
    return checkMysql(this.#home, this.#config)
  }

  close(): Promise<void> {
    return this.#home.close()
  }
}
