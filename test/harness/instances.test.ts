import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Instance,
  type InstanceStore,
  type JobRow,
  openMysqlInstances,
  openSqliteInstances,
} from '@cairn/agents/harness'
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'

interface StoreSite {
  readonly open: () => Promise<InstanceStore>
  readonly close: () => Promise<void>
}

const instance = (externalId: string, reservationKey = 'site'): Instance => ({
  provider: 'e2b',
  reservationKey,
  externalId,
  workspace: { name: 'site', mountPath: '/mnt/workspaces/site' },
  createdAtMs: 1_700_000_000_000,
  lastUsedAtMs: 1_700_000_000_000,
})

const job: JobRow = {
  id: 'job-1',
  provider: 'e2b',
  reservationKey: 'site',
  externalId: 'm1',
  status: 'running',
  tokenHash: 'f'.repeat(64),
  observed: false,
}

/** What every store of instances promises. Two connections, as two processes have them. */
function runInstanceStoreTests(openSite: () => Promise<StoreSite>): void {
  let site: StoreSite
  let first: InstanceStore
  let second: InstanceStore
  beforeAll(async () => {
    site = await openSite()
    first = await site.open()
    second = await site.open()
  })
  afterAll(async () => {
    await first.close()
    await second.close()
    await site.close()
  })

  it('a key is claimed once, and every process finds whose it is', async () => {
    const claims = ['m1', 'm2', 'm3', 'm4'].map((id, at) =>
      (at % 2 === 0 ? first : second).claim(instance(id)),
    )
    const won = (await Promise.all(claims)).map((claimed, at) => (claimed ? `m${at + 1}` : ''))
    const winner = won.join('')
    expect(winner).toMatch(/^m\d$/)
    expect(await second.find('e2b', 'site')).toEqual(instance(winner))
    expect(await first.find('local', 'site')).toBeUndefined()
    expect(await first.release('e2b', 'site', winner)).toBe(true)
  })

  it('keys are compared byte for byte', async () => {
    for (const key of ['a', 'A', 'a ', '1', '01', 'ä'])
      expect(await first.claim(instance('m', key))).toBe(true)
    expect(
      (await second.list('e2b')).map(({ reservationKey }) => reservationKey).toSorted(),
    ).toEqual(['a', 'A', 'a ', '1', '01', 'ä'].toSorted())
    for (const key of ['a', 'A', 'a ', '1', '01', 'ä']) await first.release('e2b', key, 'm')
    expect(await second.list('e2b')).toEqual([])
  })

  it('a use or a release of a machine that was replaced changes nothing', async () => {
    await first.claim(instance('new'))
    expect(await second.touch({ ...instance('old'), lastUsedAtMs: 5 })).toBe(false)
    expect(await second.release('e2b', 'site', 'old')).toBe(false)
    expect(await second.touch({ ...instance('new'), lastUsedAtMs: 5 })).toBe(true)
    expect(await second.touch({ ...instance('new'), lastUsedAtMs: 5 })).toBe(true)
    expect(await first.find('e2b', 'site')).toMatchObject({ externalId: 'new', lastUsedAtMs: 5 })
    expect(await second.release('e2b', 'site', 'new')).toBe(true)
    expect(await first.find('e2b', 'site')).toBeUndefined()
  })

  it('a job is settled once and observed once', async () => {
    await first.addJob(job)
    await expect(second.addJob(job)).rejects.toThrow(/job-1/)
    expect(await second.findJob('job-1')).toEqual(job)
    expect(await second.findJob('job-2')).toBeUndefined()
    expect(await first.observeJob('job-1')).toBe(false)
    const done = { ...job, status: 'completed', exitCode: 0, logs: 'ümlaut\n' } as const
    const settled = [first.settleJob(done), second.settleJob({ ...job, status: 'failed' })]
    expect((await Promise.all(settled)).filter(Boolean)).toHaveLength(1)
    const observed = await Promise.all([first.observeJob('job-1'), second.observeJob('job-1')])
    expect(observed.filter(Boolean)).toHaveLength(1)
    expect(await first.findJob('job-1')).toMatchObject({ observed: true })
  })
}

describe('reservations in SQLite', () => {
  runInstanceStoreTests(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'cairn-instances-'))
    return {
      open: () => openSqliteInstances(join(directory, 'instances.db')),
      close: () => rm(directory, { recursive: true }),
    }
  })
})

describe.skipIf(whyNoMysql !== undefined)(
  `reservations in MySQL (${whyNoMysql ?? 'MariaDB'})`,
  () => {
    runInstanceStoreTests(async () => {
      const server: MysqlServer = await startMysql()
      const url = await server.createDatabase()
      return { open: () => openMysqlInstances(url), close: () => server.stop() }
    })
  },
)
