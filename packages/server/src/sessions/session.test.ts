import { Blobs, type Branch, encodeBody, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import {
  type ActorId,
  type BranchId,
  CairnError,
  type SessionReply,
  sessionVersion,
  type SessionRequest,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { MemoryDirectory } from '../testing/memory-directory.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'
import { MemoryLeaseStore } from '../testing/memory-lease-store.ts'
import { MemoryLockStore } from '../testing/memory-lock-store.ts'
import { MemorySessionNoteStore } from '../testing/memory-session-note-store.ts'
import type { Clock } from '../ports/clock.ts'
import { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import { Session } from './session.ts'

const actor = 'key' as ActorId
const leaseMs = 1000

function unavailable(): CairnError {
  return new CairnError('storage_unavailable', { what: 'reach the log', reason: 'it is away' })
}

/** One end of a wire: what it was sent, in order. */
interface Peer {
  readonly session: Session
  readonly heard: SessionReply[]
}

describe('session', () => {
  let nowMs: number
  let servers: { workspaces: WorkspaceKeeper; branch: Branch; keeper: LeaseKeeper }[]
  let asleep: (() => void)[]
  const clock: Clock = {
    nowMs: () => nowMs,
    sleep: () => new Promise((resolve) => asleep.push(resolve)),
    now: () => ({ sec: nowMs, nsec: 0 }),
  }

  beforeEach(async () => {
    nowMs = 0
    asleep = []
    servers = []
    const [directory, leases] = [new MemoryDirectory(), new MemoryLeaseStore()]
    const notes = new MemorySessionNoteStore()
    const [layers, locks] = [new MemoryLayerStore(), new MemoryLockStore()]
    const parts = {
      nodes: new MemoryNodeStore(),
      blobs: new MemoryBlobStore(),
      log: new MemoryLogStore(),
      refs: new MemoryRefStore(),
    }
    while (servers.length < 2) {
      const stores: Stores = {
        nodes: new Nodes({ store: parts.nodes, hash: sha256 }),
        blobs: new Blobs(parts.blobs, contentWorker),
        log: parts.log,
        refs: parts.refs,
      }
      const options = { store: leases, notes, clock, leaseMs, lookMs: 10 }
      const workspaces = new WorkspaceKeeper({
        directory,
        storesOf: () => stores,
        clock,
        leases: options,
        locks,
        layers,
        isShared: true,
      })
      if (servers.length === 0) await workspaces.create('owner', 'w')
      const workspace = await workspaces.open('owner', 'w')
      const branch = await workspace.branch('main')
      servers.push({ workspaces, branch, keeper: workspace.lease(branch) })
    }
  })

  const open = async (server: number, session = '', seq = 0): Promise<Peer> => {
    const { workspaces, branch, keeper } = servers[server]!
    const heard: SessionReply[] = []
    const connection = {
      send: (reply: SessionReply) => heard.push(reply),
      bufferedBytes: 0,
      close: () => undefined,
    }
    const workspace = await workspaces.open('owner', 'w')
    const opened = await Session.open({ workspace, branch, keeper, actor, leaseMs }, connection, {
      type: 'hello',
      version: sessionVersion,
      workspace: 'w',
      branch: 'main',
      mode: 'write',
      session,
      seq,
      path: '',
    })
    await settle()
    return { session: opened, heard }
  }
  const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  const body = encodeBody({ type: 'ops', ops: [] }, { sec: 1, nsec: 0 })
  const types = ({ heard }: Peer): readonly string[] => heard.splice(0).map(({ type }) => type)
  const answersOf = ({ heard }: Peer): readonly string[] =>
    heard
      .splice(0)
      .flatMap((reply) => (reply.type === 'answer' ? [new TextDecoder().decode(reply.bytes)] : []))
  const say = async ({ session }: Peer, request: SessionRequest): Promise<void> => {
    await session.handle(request)
    await settle()
  }

  it('a lease given by another server comes behind the batches that this one has not seen', async () => {
    const [a, b] = [await open(0), await open(1)]
    await servers[0]!.keeper.look()
    await say(a, { type: 'released', epoch: 2 })
    await servers[1]!.keeper.look()
    await settle()
    await say(b, { type: 'submit', number: 1, epoch: 2, body })
    await say(b, { type: 'bye' })
    types(a)
    // Nothing tells the first server of the batch but the record that names a newer epoch.
    await servers[0]!.keeper.look()
    await settle()
    expect(types(a)).toEqual(['batch', 'batch', 'lease'])
  })

  it('the commit of a rescue layer waits until the lease is handed back', async () => {
    const a = await open(0)
    nowMs += 2 * leaseMs
    const b = await open(1)
    expect(types(b)).toContain('lease')
    const rescue = { type: 'rescue', epoch: 2 } as const
    const back = await open(0, a.session.id)
    await say(back, { ...rescue, id: 1, number: 1, body })
    void back.session.handle({ ...rescue, id: 2, number: 0, body: new Uint8Array() })
    await settle()
    expect(types(back).filter((type) => type === 'answer')).toEqual(['answer'])
    await servers[1]!.keeper.look()
    await settle()
    expect(types(b)).toContain('recall')
    await say(b, { type: 'released', epoch: 3 })
    for (const wake of asleep.splice(0)) wake()
    await settle()
    expect(types(back)).toContain('answer')
  })

  it('a rescue whose answer was lost is asked again: it is in the layer once, and committed', async () => {
    const a = await open(0)
    nowMs += 2 * leaseMs
    const b = await open(1)
    await say(b, { type: 'bye' })
    const back = await open(0, a.session.id)
    const { stores } = await servers[0]!.workspaces.open('owner', 'w')
    const append = stores.log.append.bind(stores.log)
    stores.log.append = async (...rows) => {
      stores.log.append = append
      stores.log.find = () => Promise.reject(unavailable())
      await append(...rows)
      throw unavailable()
    }
    const find = stores.log.find.bind(stores.log)
    const rescue = { type: 'rescue', epoch: 2 } as const
    types(back)
    await say(back, { ...rescue, id: 1, number: 1, body })
    expect(types(back)).toEqual(['failure'])
    stores.log.find = find
    await say(back, { ...rescue, id: 2, number: 1, body })
    void back.session.handle({ ...rescue, id: 3, number: 0, body: new Uint8Array() })
    await settle()
    // The commit is a writer like any other: the session itself hands the lease back for it.
    await say(back, { type: 'released', epoch: servers[0]!.keeper.record.epoch })
    for (const wake of asleep.splice(0)) wake()
    await settle()
    expect(answersOf(back)).toEqual([
      expect.stringMatching(/^kept .*rescue-/),
      expect.stringMatching(/^committed .*rescue-/),
    ])
    const layer = `${servers[0]!.branch.id}/rescue-${a.session.id}-2` as BranchId
    const rows = await stores.log.read(layer, 0, 10)
    expect(rows.filter(({ session }) => session === a.session.id).length).toBe(1)
    // Over, and so the collector takes it away in time.
    const { layers } = await servers[0]!.workspaces.open('owner', 'w')
    expect(await layers.findByBranch(layer)).toMatchObject({
      state: 'committed',
      closedAt: expect.any(String) as string,
      tags: { rescue: actor },
    })
  })

  it('a store that does not answer a submission ends the connection, and answers nothing', async () => {
    const a = await open(0)
    types(a)
    const { stores } = await servers[0]!.workspaces.open('owner', 'w')
    stores.log.append = () => Promise.reject(new Error('no disk'))
    await expect(a.session.handle({ type: 'submit', number: 1, epoch: 2, body })).rejects.toThrow(
      'no disk',
    )
    expect(types(a)).toEqual([])
  })
})
