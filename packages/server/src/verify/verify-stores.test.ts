import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keysUnder } from '../conformance/object-store.ts'
import { parseMysqlUrl } from '../storage/mysql/config.ts'
import { S3ObjectStore } from '../storage/s3/s3-object-store.ts'
import type { S3Config } from '../storage/s3/config.ts'
import { MariadbServer, whyNoMariadb } from '../testing/servers/mariadb.ts'
import { type S3Server, s3UrlOf, startS3, whyNoS3 } from '../testing/servers/s3.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { MysqlPlace } from './mysql-place.ts'
import type { StoreCheck } from './report.ts'
import { makeScratchName } from './scratch-name.ts'
import { type VerifyOptions, verifyStores } from './verify-stores.ts'

const { signal } = new AbortController()
const dayMs = 24 * 60 * 60 * 1000

// That one is fit: test/e2e/verify-stores.test.ts.
describe('a data directory', () => {
  it('keeps what a young run left, and is rid of what an old one left', async () => {
    await withTemporaryDirectory(async (data) => {
      const young = makeScratchName(Date.now() - dayMs + 60_000)
      const old = makeScratchName(Date.now() - dayMs - 60_000)
      const others = ['cairn_verify_notes', `${old}.bak`]
      for (const name of [young, old, ...others]) await mkdir(join(data, name))
      const ending = new AbortController()
      const onProgress = (): void => ending.abort(new Error('interrupted'))
      const running = verifyStores({ data, signal: ending.signal, onProgress })
      await expect(running).rejects.toThrow('interrupted')
      expect((await readdir(data)).sort()).toEqual([young, ...others].sort())
    })
  })

  it('a data directory that is not there is named, with the command that makes it', async () => {
    await withTemporaryDirectory(async (directory) => {
      const data = join(directory, 'none')
      const { checks, suites, isFit } = await verifyStores({ data, signal })
      expect(isFit).toBe(false)
      expect(suites).toEqual([])
      for (const check of checks)
        expect(check).toMatchObject({
          name: 'connection',
          says: `cannot use ${data}: there is no such directory`,
          fix: `Make the directory, or name another: mkdir -p ${data}`,
        })
      expect(await readdir(directory)).toEqual([])
    })
  })
})

const missing = whyNoMariadb ?? whyNoS3

describe.skipIf(missing)(`MariaDB and S3 ${missing ?? ''}`, () => {
  let mariadb: MariadbServer
  let s3: S3Server
  let meta: string
  let bucket: S3Config
  beforeAll(async () => {
    ;[mariadb, s3] = await Promise.all([MariadbServer.start(), startS3()])
    meta = await mariadb.createDatabase()
    bucket = await s3.createBucket()
  }, 120_000)
  afterAll(async () => {
    await mariadb?.stop()
    await s3?.stop()
  })

  const verify = (
    options: Partial<VerifyOptions> = {},
    database: Pick<VerifyOptions, 'meta'> = { meta },
  ) => {
    const objects = s3UrlOf({ ...bucket, prefix: `${bucket.prefix}p` })
    return verifyStores({ data: '/nowhere', ...database, objects, signal, ...options })
  }
  const whatIsLeft = async (): Promise<readonly string[]> => {
    const store = new S3ObjectStore(bucket)
    const keys = await keysUnder(store, '')
    await store.close()
    return [...keys, ...(await mariadb.listDatabases()).filter((name) => /verify/.test(name))]
  }

  it('MariaDB and S3 are fit, and nothing is left in either', async () => {
    const steps: string[] = []
    const report = await verify({ onProgress: ({ what }) => steps.push(what) })
    expect(steps.length).toBe(report.suites.reduce((sum, { passed }) => sum + passed, 0))
    expect(report.suites.flatMap(({ failures }) => failures)).toEqual([])
    expect(report.checks.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(report.checks.map(({ store, name }) => `${store} ${name}`)).toEqual([
      'database version',
      'database isolation level',
      'database max_allowed_packet',
      'database commits',
      'database clock',
      'database privileges',
      'objects conditional writes',
      'objects access',
      'objects listing',
      'objects clock',
    ])
    expect(report.isFit).toBe(true)
    expect(await whatIsLeft()).toEqual([])
  }, 120_000)

  it.each([
    ['in the database', (url: string) => ({ meta: url }), /^database: of sixteen/],
    // On a database that is quick: its suites come first.
    ['in the objects', () => ({}), /^objects: many at once/],
  ] as const)(
    'a run that is interrupted %s leaves nothing',
    async (_, database, stopAt) => {
      await withTemporaryDirectory(async (data) => {
        const ending = new AbortController()
        const onProgress: VerifyOptions['onProgress'] = ({ what }) => {
          if (stopAt.test(what)) ending.abort(new Error('interrupted'))
        }
        const running = verify({ data, signal: ending.signal, onProgress }, database(meta))
        await expect(running).rejects.toThrow('interrupted')
        expect([...(await whatIsLeft()), ...(await readdir(data))]).toEqual([])
      })
    },
    120_000,
  )

  it('an old leftover goes, a young one is named and stays', async () => {
    const young = makeScratchName(Date.now())
    const old = makeScratchName(Date.now() - 2 * dayMs)
    const store = new S3ObjectStore(bucket)
    for (const name of [young, old]) {
      await mariadb.run(`CREATE DATABASE ${name}`)
      await store.put(`p/cairn-verify/${name}/a/b`, Uint8Array.of(1))
    }
    const ending = new AbortController()
    await verify({ signal: ending.signal, onProgress: () => ending.abort() }).catch(() => {})
    expect(await whatIsLeft()).toEqual([`p/cairn-verify/${young}/a/b`, young])
    await store.delete(`p/cairn-verify/${young}/a/b`)
    await store.close()
    await mariadb.run(`DROP DATABASE ${young}`)
  }, 60_000)

  it('a user that may make no schema is named, with the statement that allows it', async () => {
    await mariadb.run(`CREATE USER limited`)
    const schema = new URL(meta).pathname.slice(1)
    await mariadb.run(`GRANT SELECT, INSERT ON ${schema}.* TO limited`)
    const url = meta.replace('root@', 'limited@')
    const { checks, isFit } = await verifyStores({ data: '/nowhere', meta: url, signal })
    expect(isFit).toBe(false)
    const find = (name: string): StoreCheck | undefined =>
      checks.find((check) => check.name === name)
    expect(find('privileges')).toMatchObject({
      state: 'warn',
      fix: `GRANT UPDATE, DELETE, CREATE, ALTER ON \`${schema}\`.* TO 'limited'`,
    })
    expect(find('scratch store')).toMatchObject({
      state: 'fail',
      fix: "Allow schemas for this check: GRANT ALL ON `cairn\\_verify\\_%`.* TO 'limited'",
    })
  }, 60_000)

  it('settings that lose or hide data are named one by one', async () => {
    const wrong = {
      tx_isolation: `'READ-UNCOMMITTED'`,
      max_allowed_packet: String(4 << 20),
      innodb_flush_log_at_trx_commit: '2',
    }
    for (const [name, value] of Object.entries(wrong))
      await mariadb.run(`SET GLOBAL ${name} = ${value}`)
    const place = await MysqlPlace.open(parseMysqlUrl(meta))
    const findings = await place.check()
    await place.close()
    const failed = findings.filter(({ state }) => state === 'fail')
    expect(failed.map(({ name }) => name)).toEqual([
      'isolation level',
      'max_allowed_packet',
      'commits',
    ])
    expect(failed.map(({ fix }) => fix)).toEqual([
      expect.stringContaining("SET GLOBAL tx_isolation = 'REPEATABLE-READ'"),
      expect.stringContaining('SET GLOBAL max_allowed_packet = 16777216'),
      expect.stringContaining('SET GLOBAL innodb_flush_log_at_trx_commit = 1'),
    ])
  })
})
