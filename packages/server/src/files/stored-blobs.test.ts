import {
  blobBytesMax,
  Blobs,
  type Branch,
  encodeBody,
  Nodes,
  type Op,
  type Stores,
} from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import {
  encodeRequest,
  type Hash,
  type Ino,
  type Name,
  Reader,
  rootIno,
  type SessionReply,
  sessionVersion,
  type SessionRequest,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { MemoryDirectory } from '../testing/memory-directory.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'
import { MemoryLeaseStore } from '../testing/memory-lease-store.ts'
import { MemoryLockStore } from '../testing/memory-lock-store.ts'
import { MemorySessionNoteStore } from '../testing/memory-session-note-store.ts'
import { systemClock } from '../ports/clock.ts'
import { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { MessagePieces } from '../sessions/message-pieces.ts'
import { serveConnection, type ServedConnection } from '../sessions/serve-connection.ts'
import { StoredBlobs } from './stored-blobs.ts'

const leaseMs = 60_000
const time = { sec: 1, nsec: 0 }
const ino = 1001 as Ino
const unknown = 'x'.repeat(32) as Hash
const content = new Uint8Array(blobBytesMax).fill(7)

const create: Op = {
  type: 'create',
  time,
  parent: rootIno,
  name: 'f' as Name,
  ino,
  kind: 'file',
  mode: 0o644,
  uid: 0,
  gid: 0,
  rdev: 0,
  target: undefined,
}

function writeFrom(id: Hash, blobLength: number): Op {
  const data = { type: 'blob', id, blobLength, start: 0, length: blobLength } as const
  return { type: 'write', time, ino, offset: 0, data, dropPrivileges: false }
}

describe('a session that writes from blobs', () => {
  let stores: Stores
  let blobStore: MemoryBlobStore
  let workspaces: WorkspaceKeeper
  let branch: Branch
  let served: ServedConnection
  let heard: SessionReply[]

  beforeEach(async () => {
    blobStore = new MemoryBlobStore()
    stores = {
      nodes: new Nodes({ store: new MemoryNodeStore(), hash: sha256 }),
      blobs: new Blobs(blobStore, contentWorker),
      log: new MemoryLogStore(),
      refs: new MemoryRefStore(),
    }
    const [clock, store] = [systemClock(), new MemoryLeaseStore()]
    const notes = new MemorySessionNoteStore()
    const leases = { store, notes, clock, leaseMs, lookMs: 20 }
    workspaces = new WorkspaceKeeper({
      directory: new MemoryDirectory(),
      storesOf: () => stores,
      clock,
      leases,
      locks: new MemoryLockStore(),
      layers: new MemoryLayerStore(),
    })
    await workspaces.create('owner', 'w')
    branch = await (await workspaces.open('owner', 'w')).branch('main')
    await connect('s_1')
  })

  async function connect(session: string): Promise<void> {
    heard = []
    const connection = {
      send: (reply: SessionReply) => void heard.push(reply),
      bufferedBytes: 0,
      close: () => undefined,
    }
    served = serveConnection(
      connection,
      { workspaces, leaseMs, pieces: new MessagePieces() },
      { id: 'key', owner: 'owner' },
    )
    const to = { workspace: 'w', branch: 'main', mode: 'write', session, seq: 0, path: '' }
    say({ type: 'hello', version: sessionVersion, ...to })
    await reply('lease')
  }

  const say = (request: SessionRequest): void => void served.onMessage(encodeRequest(request))

  function reply<Type extends SessionReply['type']>(
    type: Type,
    count = 1,
  ): Promise<Extract<SessionReply, { type: Type }>> {
    return vi.waitFor(() => {
      const found = heard.filter((one) => one.type === type)
      expect(found.length).toBeGreaterThanOrEqual(count)
      return found[count - 1] as Extract<SessionReply, { type: Type }>
    })
  }

  async function store(): Promise<Hash> {
    say({ type: 'blob', id: 9, bytes: content })
    return new Reader((await reply('answer')).bytes, 'answer').rawByteString(32) as Hash
  }

  const submit = (number: number, ...ops: readonly Op[]): void =>
    say({ type: 'submit', number, epoch: 2, body: encodeBody({ type: 'ops', ops }, time) })

  it('one that is not stored is refused, and the branch folds', async () => {
    submit(1, create, writeFrom(unknown, 10))
    expect(await reply('refused')).toMatchObject({
      number: 1,
      code: 'malformed',
      reason: expect.stringMatching(/not stored here/),
    })
    submit(2, create)
    await reply('receipt')
    await expect(branch.fold()).resolves.toMatchObject({ seq: branch.head.position.seq })
  })

  it('one that has another length is refused, whichever client stored it', async () => {
    const id = await store()
    submit(1, create, writeFrom(id, 10))
    expect((await reply('refused')).reason).toMatch(`${blobBytesMax} bytes, not 10`)
    const { id: old } = await stores.blobs.seal(new Uint8Array(5).fill(3))
    await stores.blobs.store([await stores.blobs.seal(new Uint8Array(5).fill(3))])
    submit(2, create, writeFrom(old, 10))
    expect((await reply('refused', 2)).reason).toMatch('5 bytes, not 10')
    submit(3, create, writeFrom(old, 5))
    await reply('receipt')
    await branch.fold()
  })

  it('one that it has just stored is not looked for', async () => {
    const id = await store()
    const get = vi.spyOn(blobStore, 'get')
    submit(1, create, writeFrom(id, blobBytesMax))
    await reply('receipt')
    expect(get).not.toHaveBeenCalled()
    await branch.fold()
  })

  it('what is submitted behind one that is looked for waits for it', async () => {
    const blob = await stores.blobs.seal(content)
    await stores.blobs.store([blob])
    const looked = Promise.withResolvers<void>()
    const get = blobStore.get.bind(blobStore)
    const look = vi.spyOn(blobStore, 'get').mockImplementationOnce(async (id) => {
      await looked.promise
      return get(id)
    })
    submit(1, create, writeFrom(blob.id, blobBytesMax))
    await vi.waitFor(() => expect(look).toHaveBeenCalled())
    submit(2, { type: 'unlink', time, parent: rootIno, name: 'f' as Name } as Op)
    looked.resolve()
    await reply('receipt', 2)
    const receipts = heard.flatMap((one) => (one.type === 'receipt' ? [one.number] : []))
    expect(receipts).toEqual([1, 2])
  })

  it('a store that does not answer is no refusal', async () => {
    vi.spyOn(blobStore, 'touch').mockRejectedValueOnce(new Error('no network'))
    submit(1, create, writeFrom(unknown, 10))
    await reply('goodbye')
    expect(heard.map(({ type }) => type)).not.toContain('refused')
  })

  it('a rescue that names one which is not stored is refused', async () => {
    await branch.raiseEpoch(
      { session: 'other' as never, number: 1, actor: 'key' as never, time },
      async ({ seq, snapshot }) =>
        stores.refs.putCheckpoint({
          id: `epoch-2-at-${seq}` as never,
          branch: branch.id,
          label: '',
          seq,
          snapshot,
          time,
        }),
    )
    const body = encodeBody({ type: 'ops', ops: [create, writeFrom(unknown, 10)] }, time)
    say({ type: 'rescue', id: 1, number: 1, epoch: 2, body })
    expect(await reply('failure')).toMatchObject({ code: 'malformed' })
  })
})

describe('what is known of stored blobs', () => {
  const ops = [writeFrom(unknown, 10)]

  it('what is known of stored blobs is not relied on for longer than its time: then it is touched, and read', async () => {
    const asked: string[] = []
    const blobs = {
      touch: async () => asked.push('touch') > 0,
      read: async () => (asked.push('read'), new Uint8Array(10)),
    }
    let nowMs = 0
    const stored = new StoredBlobs(blobs, { nowMs: () => nowMs, forMs: 100 })
    stored.note(unknown, 10)
    nowMs = 99
    expect(stored.checkOf(ops)).toBeUndefined()
    nowMs = 100
    await stored.checkOf(ops)!()
    expect(asked).toEqual(['touch', 'read'])
    nowMs = 199
    expect(stored.checkOf(ops)).toBeUndefined()
  })

  it('one that was taken away meanwhile is refused, although it can still be read', async () => {
    const blobs = { touch: async () => false, read: async () => new Uint8Array(10) }
    const stored = new StoredBlobs(blobs, { nowMs: () => 0, forMs: 100 })
    await expect(stored.checkOf(ops)!()).rejects.toMatchObject({ code: 'malformed' })
  })
})
