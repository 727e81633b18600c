import { Blobs, Branch, createBranch, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import { type ActorId, type BranchId, CairnError, type SessionId } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { MemoryLeaseStore } from '../testing/memory-lease-store.ts'
import { MemorySessionNoteStore } from '../testing/memory-session-note-store.ts'
import type { Clock } from '../ports/clock.ts'
import { epochCheckpoint, findEpochEnd } from './epoch-end.ts'
import type { LeaseRecord } from '../ports/lease-store.ts'
import { LeaseKeeper } from './lease-keeper.ts'

const main = 'main' as BranchId
const [a, b] = ['a' as SessionId, 'b' as SessionId]
const time = { sec: 0, nsec: 0 }

/** A lease store that a server may die on: the record is never written. */
class DyingLeases extends MemoryLeaseStore {
  isDying = false

  override async put(record: LeaseRecord): Promise<boolean> {
    if (this.isDying)
      throw new CairnError('storage_unavailable', { what: 'write', reason: 'the store is away' })
    return super.put(record)
  }
}

describe('lease keeper', () => {
  let stores: Stores
  let leases: DyingLeases
  let nowMs: number
  const clock: Clock = {
    nowMs: () => nowMs,
    sleep: async (ms) => void (nowMs += ms),
    now: () => time,
  }
  const openServer = async (): Promise<{ branch: Branch; keeper: LeaseKeeper }> => {
    const branch = await Branch.open(stores, main)
    const notes = new MemorySessionNoteStore()
    const options = { store: leases, notes, clock, leaseMs: 1000, lookMs: 10, isShared: true }
    return { branch, keeper: new LeaseKeeper(stores, branch, options) }
  }

  beforeEach(async () => {
    nowMs = 0
    leases = new DyingLeases()
    stores = {
      nodes: new Nodes({ store: new MemoryNodeStore(), hash: sha256 }),
      blobs: new Blobs(new MemoryBlobStore(), contentWorker),
      log: new MemoryLogStore(),
      refs: new MemoryRefStore(),
    }
    await createBranch(stores, main)
  })

  it('a lease names an epoch that is in the log before the lease is written down', async () => {
    const { branch, keeper } = await openServer()
    expect(await keeper.join(a)).toMatchObject({ holder: a, epoch: 2 })
    expect(branch.head.position.epoch).toBe(2)
  })

  it('a server dies between epoch and record: the next one begins another epoch', async () => {
    const [first, second] = [await openServer(), await openServer()]
    leases.isDying = true
    await expect(first.keeper.join(a)).rejects.toThrow(/cannot write/)
    leases.isDying = false
    expect(await second.keeper.join(b)).toMatchObject({ holder: b, epoch: 3 })
  })

  it('an epoch that no record names stops no one-off write', async () => {
    const { branch, keeper } = await openServer()
    const author = { session: 'x' as SessionId, number: 1, actor: 'x' as ActorId, time }
    await branch.raiseEpoch(author)
    const write = { ...author, session: 'y' as SessionId }
    const { seq } = await keeper.withTurn((epoch) => branch.transact(write, () => [], { epoch }))
    expect(seq).toBe(3)
  })

  it('servers that give the lease at once give it to one, in one epoch', async () => {
    const servers = [await openServer(), await openServer()]
    await Promise.all([servers[0]!.keeper.join(a), servers[1]!.keeper.join(b)])
    const record = await servers[0]!.keeper.look()
    expect(record.writers.map(({ session }) => session).sort()).toEqual([a, b])
    await servers[0]!.branch.refresh()
    expect(servers[0]!.branch.head.position.epoch).toBe(record.epoch)
  })

  it('a one-off write that succeeded is confirmed, even if its turn cannot be ended', async () => {
    const { keeper } = await openServer()
    await keeper.join(a)
    nowMs += 2000
    const outcome = await keeper.withTurn(async () => {
      leases.isDying = true
      return 'written'
    })
    expect(outcome).toBe('written')
  })

  it('an epoch ends where the log says, whatever other servers had prepared', async () => {
    const { branch, keeper } = await openServer()
    await keeper.join(a)
    const write = { session: a, number: 1, actor: 'x' as ActorId, time, epoch: 2, ops: [] }
    await branch.submit(write)
    nowMs += 2000
    await keeper.join(b)
    // A slow server's checkpoint of the same epoch, from before the last batch, arrives now.
    const { snapshot } = await stores.refs.getCheckpoint(main, epochCheckpoint(1, 0))
    const id = epochCheckpoint(2, 1)
    await stores.refs.putCheckpoint({ id, branch: main, label: '', seq: 1, snapshot, time })
    expect((await findEpochEnd(stores, branch, 2)).seq).toBe(2)
    await expect(findEpochEnd(stores, branch, 3)).rejects.toThrow(/has not ended/)
  })
})
