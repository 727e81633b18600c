import type { Instance, InstanceStore, JobRow } from './instance-store.ts'
import { KeyTaken, type Sql, type StoredRow } from './sql.ts'

const schema = [
  `CREATE TABLE IF NOT EXISTS cairn_instances (provider VARBINARY(32) NOT NULL, reservation_key VARBINARY(255) NOT NULL,
    external_id VARBINARY(255) NOT NULL, body MEDIUMBLOB NOT NULL, PRIMARY KEY (provider, reservation_key))`,
  `CREATE TABLE IF NOT EXISTS cairn_jobs (id VARBINARY(128) NOT NULL PRIMARY KEY, is_running INTEGER NOT NULL,
    observed INTEGER NOT NULL, body MEDIUMBLOB NOT NULL)`,
]

/** The same statements for every database. The rest of a row is JSON, because nothing asks for a part of it. */
export class SqlInstanceStore implements InstanceStore {
  readonly #sql: Sql

  private constructor(sql: Sql) {
    this.#sql = sql
  }

  static async open(sql: Sql): Promise<SqlInstanceStore> {
    for (const statement of schema) await sql.execute(statement, [])
    return new SqlInstanceStore(sql)
  }

  async find(provider: string, reservationKey: string): Promise<Instance | undefined> {
    const sql = 'SELECT body FROM cairn_instances WHERE provider = ? AND reservation_key = ?'
    const [row] = await this.#sql.query(sql, [bytes(provider), bytes(reservationKey)])
    return row && bodyOf<Instance>(row)
  }

  claim(instance: Instance): Promise<boolean> {
    const { provider, reservationKey, externalId } = instance
    return this.#insert('INSERT INTO cairn_instances VALUES (?, ?, ?, ?)', [
      bytes(provider),
      bytes(reservationKey),
      bytes(externalId),
      bytes(JSON.stringify(instance)),
    ])
  }

  async touch(instance: Instance): Promise<boolean> {
    const sql =
      'UPDATE cairn_instances SET body = ? WHERE provider = ? AND reservation_key = ? AND external_id = ?'
    const changed = await this.#sql.execute(sql, [
      bytes(JSON.stringify(instance)),
      ...keyOf(instance),
    ])
    return changed === 1
  }

  async release(provider: string, reservationKey: string, externalId: string): Promise<boolean> {
    const sql =
      'DELETE FROM cairn_instances WHERE provider = ? AND reservation_key = ? AND external_id = ?'
    return (await this.#sql.execute(sql, keyOf({ provider, reservationKey, externalId }))) === 1
  }

  async list(provider: string): Promise<Instance[]> {
    const sql = 'SELECT body FROM cairn_instances WHERE provider = ?'
    return (await this.#sql.query(sql, [bytes(provider)])).map((row) => bodyOf<Instance>(row))
  }

  async addJob(job: JobRow): Promise<void> {
    const row = [bytes(job.id), 1, 0, bytes(JSON.stringify(job))]
    if (!(await this.#insert('INSERT INTO cairn_jobs VALUES (?, ?, ?, ?)', row)))
      throw new Error(`cannot add job ${job.id}: there is one of that id`)
  }

  async findJob(id: string): Promise<JobRow | undefined> {
    const [row] = await this.#sql.query('SELECT observed, body FROM cairn_jobs WHERE id = ?', [
      bytes(id),
    ])
    return row && { ...bodyOf<JobRow>(row), observed: Number(row['observed']) === 1 }
  }

  async settleJob(job: JobRow): Promise<boolean> {
    const sql = 'UPDATE cairn_jobs SET is_running = 0, body = ? WHERE id = ? AND is_running = 1'
    const row = [bytes(JSON.stringify(job)), bytes(job.id)]
    return (await this.#sql.execute(sql, row)) === 1
  }

  async observeJob(id: string): Promise<boolean> {
    const sql =
      'UPDATE cairn_jobs SET observed = 1 WHERE id = ? AND is_running = 0 AND observed = 0'
    return (await this.#sql.execute(sql, [bytes(id)])) === 1
  }

  close(): Promise<void> {
    return this.#sql.close()
  }

  async #insert(sql: string, row: readonly (Uint8Array | number)[]): Promise<boolean> {
    try {
      await this.#sql.execute(sql, row)
      return true
    } catch (error) {
      if (error instanceof KeyTaken) return false
      throw error
    }
  }
}

type Key = Pick<Instance, 'provider' | 'reservationKey' | 'externalId'>

function keyOf({ provider, reservationKey, externalId }: Key): Uint8Array[] {
  return [bytes(provider), bytes(reservationKey), bytes(externalId)]
}

function bytes(text: string): Uint8Array {
  return Buffer.from(text)
}

function bodyOf<Body>(row: StoredRow): Body {
  return JSON.parse(Buffer.from(row['body'] as Uint8Array).toString()) as Body
}
