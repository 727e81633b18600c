import { Blobs, Nodes, type Op, type Stores } from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  type Ino,
  type Name,
  rootIno,
  type SessionId,
} from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { openStorage, type Storage } from '../storage/open.ts'
import { makeTemporaryDirectory, removeDirectory } from '../conformance/temporary-directory.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { checkStores } from './check.ts'
import { Collector } from './collector.ts'
import { Trimming } from './trimming.ts'

const content = new Uint8Array(4096).map((_, index) => (index * 7919) >> 3)

describe('trimming logs on SQLite', () => {
  let data: string
  let storage: Storage
  let workspaces: WorkspaceKeeper
  let workspace: OpenWorkspace
  let branch: BranchId
  /** Sleeps end when the test says so. */
  let wake: (() => void)[]
  let clock: Clock

  beforeEach(async () => {
    wake = []
    clock = { ...systemClock(), sleep: () => new Promise((resolve) => wake.push(resolve)) }
    data = await makeTemporaryDirectory()
    storage = await openStorage({ data })
    const storesOf = (pool: string): Stores => ({
      nodes: new Nodes({ store: storage.nodes(pool), hash: sha256 }),
      blobs: new Blobs(storage.blobs(pool), contentWorker),
      log: storage.log,
      refs: storage.refs,
    })
    workspaces = new WorkspaceKeeper({
      directory: storage.workspaces,
      storesOf,
      clock,
      leases: {
        store: storage.leases,
        notes: storage.sessionNotes,
        clock,
        leaseMs: 1000,
        lookMs: 10,
      },
      locks: storage.locks,
      layers: storage.layers,
    })
    await workspaces.create('owner', 'w')
    workspace = await workspaces.open('owner', 'w')
    branch = (await workspace.branch('main')).id
  })

  afterEach(async () => {
    await storage.close()
    await removeDirectory(data)
  })

  let lastIno = 1000
  const write = async (name: string): Promise<void> => {
    const [main, ino, time] = [await workspace.branch('main'), ++lastIno as Ino, clock.now()]
    const author = { session: 's' as SessionId, number: lastIno, actor: 'key' as ActorId, time }
    const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
    const place = { parent: rootIno, name: name as Name, ino }
    const data = { type: 'bytes', bytes: content } as const
    const ops: Op[] = [
      { type: 'create', time, ...place, kind: 'file', ...owner },
      { type: 'write', time, ino, offset: 0, data, dropPrivileges: false },
    ]
    await main.submit({ ...author, epoch: main.head.position.epoch, ops })
  }
  const sizes = async (): Promise<number[]> =>
    (await storage.log.read(branch, 0, 100)).map(({ bytes }) => bytes.length)

  it('what a fold has stored goes out of the log of an open branch, and the stores stay whole', async () => {
    const failures: unknown[] = []
    const onFailure = (error: unknown): void => void failures.push(error)
    const trimming = new Trimming({ workspaces, clock, onFailure })
    await write('folded')
    await (await workspace.branch('main')).fold()
    await write('fresh')
    trimming.start()
    for (const end of wake.splice(0)) end()
    await expect.poll(async () => (await sizes())[0]).toBeLessThan(500)
    await trimming.stop()
    expect(failures).toEqual([])
    expect((await sizes())[1]).toBeGreaterThan(content.length)
    expect((await checkStores(storage)).problems).toEqual([])
  })

  it('the collector trims branches that are not open, except in a dry run', async () => {
    await write('folded')
    await (await workspace.branch('main')).fold()
    const before = await sizes()
    const keep = { graceMs: 1000, retentionMs: 1000 }
    const collector = new Collector(storage, { ...keep, nowMs: Date.now })
    await collector.run({ dryRun: true })
    expect(await sizes()).toEqual(before)
    await collector.run({ dryRun: false })
    expect((await sizes())[0]).toBeLessThan(500)
    expect((await checkStores(storage)).problems).toEqual([])
  })
})
