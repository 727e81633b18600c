import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LogRow } from '@cairn/core'
import { type BranchId, type Hash, isCairnError, type SessionId } from '@cairn/protocol'
import { FaultProxy } from '../../testing/servers/fault-proxy.ts'
import { MariadbServer, whyNoMariadb } from '../../testing/servers/mariadb.ts'
import { expectCode } from '@cairn/core/conformance'
import { waitUntil } from '../../testing/wait-until.ts'
import { LogTable } from '../log-table.ts'
import { migrate } from '../migrate.ts'
import { type MysqlConfig, parseMysqlUrl } from './config.ts'
import { MysqlDatabase } from './mysql-database.ts'

const session = 'session' as SessionId

describe.skipIf(whyNoMariadb)(`a MariaDB in trouble ${whyNoMariadb ?? ''}`, () => {
  let server: MariadbServer
  let config: MysqlConfig
  let database: MysqlDatabase
  beforeAll(async () => {
    server = await MariadbServer.start()
    config = parseMysqlUrl(await server.createDatabase())
    database = await MysqlDatabase.open(config)
    await migrate(database)
  })
  afterAll(async () => {
    await database?.close()
    await server?.stop()
  })

  it('killed and restarted in the middle of appends: clear errors, recovery, nothing lost', async () => {
    const writers = ['a', 'b', 'c', 'd'].map((name) => new Appender(new LogTable(database), name))
    const running = writers.map((writer) => writer.run())
    try {
      const all = (isSo: (writer: Appender) => boolean) => () => writers.every(isSo)
      await waitUntil(
        'all have appended',
        all(({ acknowledged }) => acknowledged >= 10),
      )
      await server.kill()
      await waitUntil(
        'all have met an error',
        all(({ failures }) => failures > 0),
      )
      const before = writers.map(({ acknowledged }) => acknowledged)
      await server.restart()
      await waitUntil('all go on', () =>
        writers.every(({ acknowledged }, i) => acknowledged >= before[i]! + 10),
      )
    } finally {
      for (const writer of writers) writer.stopped = true
      await Promise.all(running)
    }
    for (const writer of writers) await writer.check()
  })

  it('a connection lost while it commits is storage_unavailable: only asking tells', async () => {
    const proxy = await FaultProxy.start(server.port)
    const through = await MysqlDatabase.open({ ...config, port: proxy.port })
    const log = new LogTable(through)
    const branch = 'unknown' as BranchId
    try {
      proxy.fault = { type: 'lose-answer', to: 'COMMIT' }
      await expectCode(log.append(branch, [rowOf(1)]), 'storage_unavailable')
      proxy.fault = { type: 'none' }
      expect((await log.read(branch, 0, 10)).map(({ seq }) => seq)).toEqual([1])
      await expectCode(log.append(branch, [rowOf(1)]), 'sequence_conflict')
      await log.append(branch, [rowOf(2)])
    } finally {
      await through.close()
      await proxy.stop()
    }
  })

  it('a connection lost before that is another attempt, and the caller does not notice', async () => {
    const proxy = await FaultProxy.start(server.port)
    const through = await MysqlDatabase.open({ ...config, port: proxy.port })
    try {
      // Cuts the connections that wait in the pool, as a firewall does with idle ones.
      proxy.fault = { type: 'none' }
      const log = new LogTable(through)
      await log.append('idle' as BranchId, [rowOf(1)])
      expect((await log.read('idle' as BranchId, 0, 10)).length).toBe(1)
    } finally {
      await through.close()
      await proxy.stop()
    }
  })

  it('a server that hangs is storage_unavailable in time, and works when it wakes', async () => {
    const impatient = await MysqlDatabase.open({ ...config, timeoutMs: 200 })
    try {
      await server.freeze()
      try {
        await expectCode(impatient.query('SELECT 1', []), 'storage_unavailable')
      } finally {
        server.thaw()
      }
      expect((await impatient.query('SELECT 1 AS one', [])).length).toBe(1)
    } finally {
      await impatient.close()
    }
  })
})

/** Appends one row after the other. What fails is looked up, as a branch does it, and then tried again. */
class Appender {
  acknowledged = 0
  failures = 0
  stopped = false
  readonly #log: LogTable
  readonly #branch: BranchId

  constructor(log: LogTable, name: string) {
    this.#log = log
    this.#branch = name as BranchId
  }

  async run(): Promise<void> {
    while (!this.stopped) {
      if (await this.#tryAppend(this.acknowledged + 1)) this.acknowledged++
      await nextTurn()
    }
  }

  async check(): Promise<void> {
    const rows = await this.#log.read(this.#branch, 0, 100_000)
    expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, i) => i + 1))
    expect(rows.length).toBe(this.acknowledged)
  }

  async #tryAppend(seq: number): Promise<boolean> {
    try {
      await this.#log.append(this.#branch, [rowOf(seq)])
      return true
    } catch (error) {
      if (isCairnError(error, 'sequence_conflict')) return this.#isThere(seq)
      expect(isCairnError(error, 'storage_unavailable') ? 'storage_unavailable' : error).toBe(
        'storage_unavailable',
      )
      this.failures++
      return this.#isThere(seq)
    }
  }

  async #isThere(seq: number): Promise<boolean> {
    try {
      return (await this.#log.find(this.#branch, session, seq)) !== undefined
    } catch (error) {
      if (isCairnError(error, 'storage_unavailable')) return false
      throw error
    }
  }
}

function rowOf(seq: number): LogRow {
  const bytes = new Uint8Array(500).fill(seq)
  return { seq, session, number: seq, bytes, hash: '\0'.repeat(32) as Hash }
}
