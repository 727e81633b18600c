import { Blobs, type Branch, Nodes, type Op, type Receipt } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import { type ActorId, type Ino, type Name, rootIno, type SessionId } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../ports/clock.ts'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { MemoryDirectory } from '../testing/memory-directory.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'
import { MemoryLeaseStore } from '../testing/memory-lease-store.ts'
import { MemoryLockStore } from '../testing/memory-lock-store.ts'
import { MemorySessionNoteStore } from '../testing/memory-session-note-store.ts'
import { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { Feed } from './feed.ts'

const crowd = 500

let branch: Branch
let feed: Feed
let wakes: (() => void)[]
let lastNumber: number

/** Takes what the feed has, as a session does. */
class Listener {
  sent = branch.head.position.seq
  forwards = 0
  readonly sentSeq = (): number => this.sent
  readonly seqs: number[] = []

  async forward(): Promise<void> {
    this.forwards++
    for (const { row } of feed.after(this.sent) ?? []) {
      this.seqs.push(row.seq)
      this.sent = row.seq
    }
  }
}

const change = (bytes = 0): Promise<Receipt> => {
  const [actor, session, number] = ['actor' as ActorId, 's' as SessionId, ++lastNumber]
  const [time, ino, name] = [{ sec: 1, nsec: 0 }, (100 + number) as Ino, `f${number}` as Name]
  const data = { type: 'bytes', bytes: new Uint8Array(bytes) } as const
  const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  const { epoch } = branch.head.position
  const ops: Op[] = [
    { type: 'create', time, parent: rootIno, name, ino, kind: 'file', ...owner },
    { type: 'write', time, ino, offset: 0, data, dropPrivileges: false },
  ]
  return branch.submit({ session, number, actor, time, epoch, ops })
}
const wake = async (): Promise<void> => {
  for (const resolve of wakes.splice(0)) resolve()
  await new Promise((resolve) => setImmediate(resolve))
}

beforeEach(async () => {
  const clock = systemClock()
  const stores = {
    nodes: new Nodes({ store: new MemoryNodeStore(), hash: sha256 }),
    blobs: new Blobs(new MemoryBlobStore(), contentWorker),
    log: new MemoryLogStore(),
    refs: new MemoryRefStore(),
  }
  const leases = { store: new MemoryLeaseStore(), notes: new MemorySessionNoteStore(), clock }
  const workspaces = new WorkspaceKeeper({
    directory: new MemoryDirectory(),
    storesOf: () => stores,
    clock,
    leases: { ...leases, leaseMs: 10_000, lookMs: 100 },
    locks: new MemoryLockStore(),
    layers: new MemoryLayerStore(),
  })
  await workspaces.create('owner', 'w')
  branch = await (await workspaces.open('owner', 'w')).branch('main')
  wakes = []
  lastNumber = 0
  const sleep = (): Promise<void> => new Promise((resolve) => wakes.push(resolve))
  feed = new Feed(branch, { ...clock, sleep }, stores.nodes.pacer)
})

const readers = (count: number): Listener[] =>
  Array.from({ length: count }, () => {
    const reader = new Listener()
    feed.subscribe(reader, false)
    return reader
  })

describe('the feed of a branch', () => {
  it('a change is answered before a crowd of readers is told', async () => {
    const all = readers(crowd)
    await change()
    await new Promise((resolve) => setImmediate(resolve))
    expect(all.every(({ forwards }) => forwards === 0)).toBe(true)
    await wake()
    expect(all.every(({ seqs }) => seqs.length === 1)).toBe(true)
  })

  it('a crowd is told once of all that happened meanwhile', async () => {
    const all = readers(crowd)
    for (let n = 0; n < 5; n++) await change()
    await wake()
    expect(all.map(({ forwards }) => forwards)).toEqual(all.map(() => 1))
    expect(all[0]!.seqs.length).toBe(5)
    expect(all.at(-1)!.seqs).toEqual(all[0]!.seqs)
  })

  it('what happens while a crowd is told is told in the next round', async () => {
    const [reader] = readers(crowd)
    await change()
    await wake()
    await change()
    await wake()
    expect(reader!.seqs.length).toBe(2)
  })

  it('a writer beside a crowd, and a few readers, are told at once', async () => {
    readers(crowd)
    const writer = new Listener()
    feed.subscribe(writer, true)
    await change()
    expect(writer.seqs.length).toBe(1)
    const other = new Feed(branch, systemClock(), { isDue: () => false, rest: async () => {} })
    let told = 0
    other.subscribe({ sentSeq: () => 0, forward: async () => void told++ }, false)
    await change()
    expect(told).toBe(1)
  })

  it('many sessions get the same object, to be encoded once', async () => {
    feed.subscribe({ sentSeq: () => 0, forward: async () => {} }, true)
    const before = branch.head.position.seq
    await change()
    expect(feed.after(before)![0]!.reply).toBe(feed.after(before)![0]!.reply)
  })

  it('keeps nothing that all sessions have', async () => {
    const before = branch.head.position.seq
    const [reader] = readers(1)
    await change()
    await new Promise((resolve) => setImmediate(resolve))
    expect(reader!.seqs.length).toBe(1)
    expect(feed.after(before)).toBeUndefined()
  })

  it('keeps no more than 4 MiB for a session that does not read: the rest is in the log', async () => {
    const before = branch.head.position.seq
    feed.subscribe({ sentSeq: () => before, forward: () => new Promise(() => {}) }, false)
    for (let n = 0; n < 3; n++) await change(2 << 20)
    expect(feed.after(before)).toBeUndefined()
    expect(feed.after(before + 2)?.length).toBe(1)
  })
})
