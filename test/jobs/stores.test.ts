// The stores of a server on disk: checked, damaged on purpose, and cleaned of unreachable data.
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Cairn, type CollectReport, type Workspace } from '@cairn/sdk'
import { Nodes } from '@cairn/core'
import { type BranchId, formatHash, type Hash } from '@cairn/protocol'
import { checkStores, type CheckReport, Collector, serve, sha256, withStorage } from '@cairn/server'
import { makeTemporaryDirectory, removeDirectory } from '@cairn/server/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

let data: string

beforeEach(async () => {
  data = await makeTemporaryDirectory()
})

afterEach(() => removeDirectory(data))

/** Too large for the log and for the database, and not the same for two salts. */
const large = (salt: number): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(300_000)
  let state = salt + 1
  for (let index = 0; index < bytes.length; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    bytes[index] = state >>> 16
  }
  return bytes
}

const withServer = async <T>(work: (cairn: Cairn) => Promise<T>): Promise<T> => {
  const serving = await serve({ data, listen: '127.0.0.1:0' })
  try {
    const apiKey = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
    return await work(new Cairn({ server: serving.url, apiKey }))
  } finally {
    await serving.close()
  }
}

const check = (): Promise<CheckReport> => withStorage({ data }, checkStores)

const day = 24 * 60 * 60 * 1000

/** While the server is stopped. */
const collect = (dryRun: boolean, retentionMs = 0): Promise<CollectReport> =>
  withStorage({ data }, (storage) =>
    new Collector(storage, { retentionMs, graceMs: day, nowMs: () => Date.now() + day }).run({
      dryRun,
      alone: true,
    }),
  )

const makeWorkspace = async (cairn: Cairn, name: string): Promise<Workspace> => {
  await cairn.workspaces.create(name)
  const workspace = cairn.workspace(name)
  await workspace.files.write('/repo/large', large(1))
  for (let index = 0; index < 50; index++)
    await workspace.files.write(`/repo/small-${index}`, `${index} `.repeat(200))
  return workspace
}

const objectFiles = (): string[] =>
  readdirSync(join(data, 'objects'), { recursive: true, encoding: 'utf8' })
    .map((name) => join(data, 'objects', name))
    .filter((path) => statSync(path).isFile())

describe('check', () => {
  it('everything is read, and all is well', async () => {
    await withServer(async (cairn) => {
      const workspace = await makeWorkspace(cairn, 'w')
      await workspace.layers.create('/repo', { name: 'try' })
      await workspace.layer('try').files.write('/repo/large', large(2))
      await workspace.layers.checkpoint('try', { label: 'point' })
    })
    const report = await check()
    expect(report.problems).toEqual([])
    expect(report.branches).toBe(2)
    expect(report.batches).toBeGreaterThan(50)
    expect(report.nodes).toBeGreaterThan(1)
    // Two versions of two blocks each.
    expect(report.blobs).toBeGreaterThanOrEqual(4)
  })

  it('a byte that changed on disk is found', async () => {
    await withServer((cairn) => makeWorkspace(cairn, 'w'))
    const [victim] = objectFiles()
    const bytes = await readFile(victim!)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(victim!, bytes)
    const { problems } = await check()
    expect(problems).toEqual([
      {
        message: expect.stringMatching(/blob [0-9a-f]{64}/) as string,
        belongsTo: ['/repo/large in main of w (log)'],
      },
    ])
  })

  const execute = (sql: string, ...params: Uint8Array[]): number | bigint => {
    const database = new DatabaseSync(join(data, 'meta.db'))
    try {
      return database.prepare(sql).run(...params).changes
    } finally {
      database.close()
    }
  }

  it('batches that changed are found, all of them', async () => {
    await withServer((cairn) => makeWorkspace(cairn, 'w'))
    execute("UPDATE log_rows SET bytes = CAST(bytes || x'00' AS BLOB) WHERE seq IN (7, 9)")
    const { problems, batches } = await check()
    const told = problems.map(({ message, belongsTo }) => `${message} ${belongsTo.join()}`)
    for (const seq of [7, 9])
      expect(told.filter((text) => text.includes(`batch ${seq} is not`))).toEqual([
        expect.stringMatching(/main of w$/),
      ])
    expect(batches).toBeGreaterThan(50)
  })

  it('a batch that the newest fold passes over is found, with its branch', async () => {
    await withServer((cairn) => makeWorkspace(cairn, 'w'))
    await withStorage({ data }, async ({ refs, survey, log }) => {
      const { id } = (await survey.workspaces())[0]!
      const record = await refs.getBranch(`${id}/main` as BranchId)
      const { seq, hash } = (await log.read(record.id, 0, 10_000)).at(-1)!
      const folded = { ...record.folded, seq, hash, snapshot: record.base }
      await refs.updateBranch({ ...record, folded, version: record.version + 1 })
    })
    const { problems } = await check()
    expect(problems).toHaveLength(1)
    expect(problems[0]!.message).toMatch(/batches 1 to \d+ .* than the newest fold\./)
    expect(problems[0]!.belongsTo).toEqual(['main of w'])
  })

  /** The leaves of what main and the layer `try` both stand on. */
  const leavesOfBase = (id: string): Promise<readonly Hash[]> =>
    withStorage({ data }, async ({ nodes, refs, survey }) => {
      const tree = new Nodes({ store: nodes(id), hash: sha256 })
      const branches = await survey.branches(id)
      const { base } = await refs.getBranch(branches.find((branch) => branch.includes('layer'))!)
      const root = await tree.load(base.root)
      return Array.from({ length: root.length }, (_, index) => root.childHashAt(index))
    })

  it('nodes of trees that changed are found, all of them, with every branch that needs them', async () => {
    const id = await withServer(async (cairn) => {
      const workspace = await makeWorkspace(cairn, 'w')
      await workspace.layers.create('/repo', { name: 'try' })
      await workspace.layers.checkpoint('try', { label: 'point' })
      await makeWorkspace(cairn, 'sound')
      return (await cairn.workspaces.get('w')).id
    })
    const [first, second] = await leavesOfBase(id)
    for (const leaf of [first!, second!])
      expect(
        execute(
          "UPDATE nodes SET bytes = CAST(bytes || x'00' AS BLOB) WHERE hash = ?",
          Buffer.from(leaf, 'latin1'),
        ),
      ).toBeGreaterThanOrEqual(1)
    const { problems } = await check()
    expect(problems.length).toBe(2)
    for (const { message, belongsTo } of problems) {
      expect([first, second].some((leaf) => message.includes(formatHash(leaf!)))).toBe(true)
      expect(belongsTo).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^main of w \(.*head/),
          expect.stringMatching(/^layer try of w \(base, head, checkpoint point/),
        ]),
      )
      expect(belongsTo.join()).not.toContain('sound')
    }
  })

  it.each([
    ['have another end', "CAST(bytes || x'00' AS BLOB)"],
    ['begin with an unknown format', "CAST(x'ff' || substr(bytes, 2) AS BLOB)"],
  ])('blobs in the database that %s are found, all of them, with their files', async (_, sql) => {
    await withServer(async (cairn) => {
      const workspace = await makeWorkspace(cairn, 'w')
      await workspace.layers.create('/repo', { name: 'try' })
      await workspace.layers.checkpoint('try', { label: 'point' })
    })
    expect(execute(`UPDATE blobs SET bytes = ${sql}`)).toBeGreaterThanOrEqual(50)
    const { problems } = await check()
    const files = problems.flatMap(({ belongsTo }) => belongsTo)
    for (const index of [0, 49])
      expect(files).toEqual(
        expect.arrayContaining([
          expect.stringMatching(new RegExp(`^/repo/small-${index} in main of w `)),
          `/repo/small-${index} in layer try of w (base, head, checkpoint point)`,
        ]),
      )
    expect(problems.length).toBeGreaterThanOrEqual(50)
  })
})

describe('gc', () => {
  it('what is deleted goes after the grace time, and nothing else does', async () => {
    const { patch: before, dropped } = await withServer(async (cairn) => {
      const workspace = await makeWorkspace(cairn, 'w')
      await workspace.layers.create('/repo', { name: 'kept' })
      await workspace.layer('kept').files.write('/repo/large', large(2))
      await workspace.layers.checkpoint('kept', { label: 'point' })
      await workspace.layer('kept').files.write('/repo/large', large(3))
      await workspace.layers.create('/repo', { name: 'dropped' })
      await workspace.layer('dropped').files.write('/repo/large', large(4))
      await workspace.layers.checkpoint('dropped')
      const [dropped] = await workspace.layers.delete('dropped')
      await cairn.workspaces.fork('w', 'fork')
      await cairn.workspaces.create('gone')
      await cairn.workspace('gone').files.write('/large', large(5))
      await cairn.workspaces.delete('gone')
      return { patch: await workspace.layers.patch('kept'), dropped }
    })
    const young = await collect(true, 7 * day)
    expect(young.removed.blobs.count).toBe(0)
    const dry = await collect(true)
    expect(dry.removed.blobs.bytes).toBeGreaterThan(500_000)
    expect(await collect(true)).toEqual(dry)

    expect(dry.branches).toBe(2)
    expect(dry.gone).toMatchObject({ workspaces: [{ name: 'gone' }], layers: [] })
    const branches = dry.gone.branches.map(({ workspace, layer }) => [workspace, layer])
    expect(new Map(branches as [string, string][])).toEqual(
      new Map([
        ['gone', undefined],
        ['w', dropped],
      ]),
    )

    const done = await collect(false)
    expect(done).toEqual({ ...dry, dryRun: false })
    expect(await collect(true)).toMatchObject({
      branches: 0,
      removed: { nodes: { count: 0 }, blobs: { count: 0 } },
    })
    expect((await check()).problems).toEqual([])

    await withServer(async (cairn) => {
      const workspace = cairn.workspace('w')
      expect(await workspace.files.read('/repo/large')).toEqual(large(1))
      const kept = workspace.layer('kept')
      expect(await kept.files.read('/repo/large')).toEqual(large(3))
      const then = workspace.layer('kept', { at: 'point' })
      expect(await then.files.read('/repo/large')).toEqual(large(2))
      expect(await workspace.layers.patch('kept')).toBe(before)
      expect(await cairn.workspace('fork').files.read('/repo/large')).toEqual(large(1))
      // What was taken away can be written again.
      await kept.files.write('/repo/large', large(4))
      expect(await kept.files.read('/repo/large')).toEqual(large(4))
    })
  })

  it('a rollback can be undone afterwards, and an upload goes on', async () => {
    const upload = await withServer(async (cairn) => {
      const workspace = await makeWorkspace(cairn, 'w')
      await workspace.layers.create('/repo', { name: 'try' })
      await workspace.layer('try').files.write('/repo/large', large(2))
      await workspace.layers.rollback('try')
      return startUpload(workspace, large(6))
    })
    await collect(false)
    await withServer(async (cairn) => {
      const workspace = cairn.workspace('w')
      await workspace.layers.undo('try')
      expect(await workspace.layer('try').files.read('/repo/large')).toEqual(large(2))
      await workspace.files.upload('/uploaded', large(6), { resumeId: upload })
      expect(await workspace.files.read('/uploaded')).toEqual(large(6))
    })
    expect((await check()).problems).toEqual([])
  })
})

/** Sends all blocks and stops before the end. Gives what it can be gone on with. */
async function startUpload(workspace: Workspace, bytes: Uint8Array): Promise<string> {
  const stopping = new AbortController()
  let id = ''
  const onProgress = (progress: { uploadId: string; sentBytes: number }): void => {
    id = progress.uploadId
    if (progress.sentBytes === bytes.length) stopping.abort(new Error('stop'))
  }
  const { signal } = stopping
  await expect(workspace.files.upload('/uploaded', bytes, { onProgress, signal })).rejects.toThrow()
  return id
}
