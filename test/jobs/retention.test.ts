// Closed and deleted things stay for the retention time and are then deleted; things that a client
// may come back for stay.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Cairn, type CollectReport, type Workspace } from '@cairn/sdk'
import { checkStores, Collector, type RunOptions, serve, withStorage } from '@cairn/server'
import { makeTemporaryDirectory, removeDirectory } from '@cairn/server/testing'
import type { BranchId, CheckpointId } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'

const day = 24 * 60 * 60 * 1000
const keep = { graceMs: day, retentionMs: 7 * day }
let data: string

beforeEach(async () => {
  data = await makeTemporaryDirectory()
})

afterEach(() => removeDirectory(data))

const withServer = async <T>(work: (cairn: Cairn, url: string) => Promise<T>): Promise<T> => {
  const serving = await serve({ data, listen: '127.0.0.1:0' })
  try {
    const apiKey = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
    return await work(new Cairn({ server: serving.url, apiKey }), serving.url)
  } finally {
    await serving.close()
  }
}

/** In so many days. */
const collect = (days: number, options: Partial<RunOptions> = {}): Promise<CollectReport> =>
  withStorage({ data }, (storage) =>
    new Collector(storage, { ...keep, nowMs: () => Date.now() + days * day }).run({
      dryRun: false,
      ...options,
    }),
  )

const makeLayer = async (workspace: Workspace, name: string, parent?: string): Promise<void> => {
  await workspace.layers.create('/', { name, ...(parent === undefined ? {} : { parent }) })
  await workspace.layer(name).files.write(`/${name}`, name.repeat(100))
}

it('layers that are over go after the retention time; labelled ones and those with layers on them stay', async () => {
  await withServer(async (cairn) => {
    await cairn.workspaces.create('w')
    const workspace = cairn.workspace('w')
    for (const name of ['abandoned', 'committed', 'labelled', 'below', 'open'])
      await makeLayer(workspace, name)
    await makeLayer(workspace, 'above', 'below')
    await workspace.layers.checkpoint('labelled', { label: 'tests-pass' })
    await workspace.layers.checkpoint('abandoned')
    for (const name of ['abandoned', 'labelled', 'below']) await workspace.layers.abandon(name)
    await workspace.layers.commit('committed')
    const goes = new Map<string, string | undefined>()
    for await (const { name, closedAt, expiresAt } of workspace.layers.list()) {
      goes.set(name!, expiresAt)
      if (expiresAt) expect(Date.parse(expiresAt) - Date.parse(closedAt!)).toBe(7 * day)
    }
    const named = [...goes].filter(([, expiresAt]) => expiresAt !== undefined)
    expect(named.map(([name]) => name).sort()).toEqual(['abandoned', 'committed'])
  })
  expect(await collect(6)).toMatchObject({ layers: 0, branches: 0 })
  const dry = await collect(8, { dryRun: true })
  expect(dry.gone.layers.map(({ workspace, name, state }) => [workspace, name, state])).toEqual(
    expect.arrayContaining([
      ['w', 'abandoned', 'abandoned'],
      ['w', 'committed', 'committed'],
    ]),
  )
  expect(new Set(dry.gone.branches.map(({ layer }) => layer))).toEqual(
    new Set(dry.gone.layers.map(({ id }) => id)),
  )
  const stranger = await collect(8, { dryRun: true, owner: 'another-owner' })
  expect(stranger).toMatchObject({ layers: 2, gone: { workspaces: [], layers: [], branches: [] } })
  const done = await collect(8)
  expect(done).toMatchObject({ layers: 2, branches: 2 })
  expect(new Set(done.gone.layers)).toEqual(new Set(dry.gone.layers))
  const later = await collect(10)
  expect(later.removed.nodes.count).toBeGreaterThan(0)
  expect((await withStorage({ data }, checkStores)).problems).toEqual([])
  await withServer(async (cairn) => {
    const names: (string | undefined)[] = []
    for await (const { name } of cairn.workspace('w').layers.list()) names.push(name)
    expect(names).toEqual(['labelled', 'below', 'open', 'above'])
    expect(await cairn.workspace('w').files.readText('/committed')).toContain('committed')
  })
})

it('answers under a key and revoked tokens go after the retention time; other tokens stay', async () => {
  const [revoked, kept] = await withServer(async (cairn) => {
    await cairn.workspaces.create('w')
    const workspace = cairn.workspace('w')
    await makeLayer(workspace, 'try')
    await workspace.layers.commit('try')
    const allow = [{ path: '/', operations: ['read'] }] as const
    const issue = async (name: string): Promise<string> =>
      (await workspace.tokens.issue(name, { ttlMs: 60_000, allow })).id
    const [revoked, kept] = [await issue('revoked'), await issue('kept')]
    await workspace.tokens.revoke(revoked)
    return [revoked, kept]
  })
  const answersLeft = (): number => {
    const database = new DatabaseSync(join(data, 'meta.db'))
    try {
      return database.prepare('SELECT request FROM answers').all().length
    } finally {
      database.close()
    }
  }
  const tokensLeft = (): Promise<readonly boolean[]> =>
    withStorage({ data }, async ({ tokens }) => [
      (await tokens.find(revoked!)) !== undefined,
      (await tokens.find(kept!)) !== undefined,
    ])
  const answers = answersLeft()
  expect(answers).toBeGreaterThan(0)
  for (const days of [0, 6]) {
    await collect(days)
    expect(answersLeft()).toBe(answers)
    expect(await tokensLeft()).toEqual([true, true])
  }
  await collect(8)
  expect(answersLeft()).toBe(0)
  expect(await tokensLeft()).toEqual([false, true])
})

it('a layer whose closing was not recorded is deleted, too, counted from when it was found', async () => {
  const id = await withServer(async (cairn) => {
    const { id } = await cairn.workspaces.create('w')
    await makeLayer(cairn.workspace('w'), 'forgotten')
    await cairn.workspace('w').layers.commit('forgotten')
    return id
  })
  await withStorage({ data }, async ({ layers }) => {
    const record = (await layers.findByName(id, 'forgotten'))!
    const { version } = record
    await layers.update({ ...record, state: 'open', closedAt: undefined, version: version + 1 })
  })
  expect(await collect(8)).toMatchObject({ layers: 0 })
  expect(await collect(16)).toMatchObject({ layers: 1 })
})

it('a layer whose reopening was not recorded stays', async () => {
  const id = await withServer(async (cairn) => {
    const { id } = await cairn.workspaces.create('w')
    await makeLayer(cairn.workspace('w'), 'again')
    await cairn.workspace('w').layers.abandon('again')
    await cairn.workspace('w').layers.reopen('again')
    return id
  })
  await withStorage({ data }, async ({ layers }) => {
    const record = (await layers.findByName(id, 'again'))!
    const closedAt = new Date().toISOString()
    await layers.update({ ...record, state: 'abandoned', closedAt, version: record.version + 1 })
  })
  expect(await collect(8)).toMatchObject({ layers: 0 })
  await withServer(async (cairn) => {
    for await (const layer of cairn.workspace('w').layers.list())
      expect(layer).toMatchObject({ name: 'again', state: 'open' })
  })
})

it('a branch whose layer was never finished is deleted after the grace time', async () => {
  const id = await withServer(async (cairn) => {
    const { id } = await cairn.workspaces.create('w')
    await makeLayer(cairn.workspace('w'), 'made')
    return id
  })
  await withStorage({ data }, async (storage) => {
    const main = await storage.refs.getBranch(`${id}/main` as BranchId)
    for (const name of ['layer-cut', 'layer-cut/rescue-1'])
      await storage.refs.createBranch({ ...main, id: `${id}/${name}` as BranchId, version: 1 })
    let nowMs = Date.now()
    const collector = new Collector(storage, { ...keep, nowMs: () => nowMs })
    const run = async (days: number): Promise<number> => {
      nowMs += days * day
      return (await collector.run({ dryRun: false })).branches
    }
    expect([await run(0), await run(0.9), await run(0.2), await run(0)]).toEqual([0, 0, 1, 0])
    const left = await storage.survey.branches(id)
    expect(left).toContain(`${id}/layer-cut/rescue-1`)
    expect(left).toHaveLength(3)
  })
})

it('only the newest of the leftovers of lost leases outlives the retention time', async () => {
  const id = await withServer(async (cairn) => (await cairn.workspaces.create('w')).id)
  const branch = `${id}/main` as BranchId
  await withStorage({ data }, async ({ refs }) => {
    const { snapshot } = (await refs.getBranch(branch)).folded
    const time = { sec: Math.floor(Date.now() / 1000), nsec: 0 }
    for (const [index, name] of ['epoch-1-at-0', 'epoch-2-at-1', 'epoch-3-at-2', 'mine'].entries())
      await refs.putCheckpoint({
        id: name as CheckpointId,
        branch,
        label: '',
        seq: index,
        snapshot,
        time,
      })
  })
  expect(await collect(6)).toMatchObject({ checkpoints: 0 })
  expect(await collect(8)).toMatchObject({ checkpoints: 2 })
  const left = await withStorage({ data }, ({ refs }) => refs.listCheckpoints(branch))
  expect(left.map((checkpoint) => checkpoint.id)).toEqual(['epoch-3-at-2', 'mine'])
})

it('a server that runs tells what it would take, takes nothing in its grace time, and counts its runs', async () => {
  await withServer(async (cairn, url) => {
    const key = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
    const headers = { authorization: `Bearer ${key}` }
    await cairn.workspaces.create('w')
    const workspace = cairn.workspace('w')
    await makeLayer(workspace, 'try')
    const { id } = await workspace.layers.checkpoint('try')
    await workspace.layer('try').files.write('/try', 'other '.repeat(100))
    await workspace.layers.checkpoint('try', { label: 'second' })
    expect((await cairn.collectGarbage({ dryRun: true })).waiting.nodes.count).toBe(0)
    await workspace.layers.deleteCheckpoint('try', id)
    const dry = await cairn.collectGarbage({ dryRun: true })
    expect(dry).toMatchObject({ dryRun: true, removed: { nodes: { count: 0 } } })
    expect(dry.waiting.blobs.count).toBe(1)
    expect(await cairn.collectGarbage()).toEqual({ ...dry, dryRun: false })
    expect(await workspace.layer('try').files.readText('/try')).toContain('other')
    const metrics = await (await fetch(`${url}/metrics`, { headers })).text()
    expect(metrics).toContain('cairn_gc_runs_total{outcome="done"} 3')
  })
})

it('status tells what a layer has alone and what it shares with its base', async () => {
  await withServer(async (cairn) => {
    await cairn.workspaces.create('w')
    const workspace = cairn.workspace('w')
    await workspace.files.write('/kept', 'k'.repeat(1000))
    await workspace.files.write('/changed', 'c'.repeat(500))
    await workspace.layers.create('/', { name: 'try' })
    expect((await workspace.layers.status('try')).bytes).toEqual({ private: 0, shared: 1500 })
    const { files } = workspace.layer('try')
    await files.write('/changed', 'n'.repeat(300))
    await files.write('/small', 'tiny')
    await files.write('/twice', 'n'.repeat(300))
    await files.move('/kept', '/moved')
    expect((await workspace.layers.status('try')).bytes).toEqual({ private: 304, shared: 1000 })
  })
})
