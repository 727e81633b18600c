import { Blobs, type ContentWorker, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
  restlessPacer,
} from '@cairn/core/testing'
import { type LeaseStore, type LockStore, type SessionNoteStore, sha256 } from '@cairn/server'
import {
  MemoryDirectory,
  MemoryLayerStore,
  MemoryLeaseStore,
  MemoryLockStore,
  MemorySessionNoteStore,
} from '@cairn/server/testing'
import type { Chance } from '../model/chance.ts'
import { unavailable } from '../model/unavailable.ts'
import type { Scheduler } from './scheduler.ts'

/** Hashing at once and no compressing: nothing here may leave the event loop. */
const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: async (bytes) => bytes,
  decompress: async (bytes) => bytes,
}

/** What outlives every server. */
export class Disk {
  readonly directory: MemoryDirectory = new MemoryDirectory()
  readonly leases: MemoryLeaseStore = new MemoryLeaseStore()
  readonly notes: MemorySessionNoteStore = new MemorySessionNoteStore()
  readonly locks: MemoryLockStore = new MemoryLockStore()
  readonly layers: MemoryLayerStore = new MemoryLayerStore()
  readonly nodes: MemoryNodeStore = new MemoryNodeStore()
  readonly blobs: MemoryBlobStore = new MemoryBlobStore()
  readonly log: MemoryLogStore = new MemoryLogStore()
  readonly refs: MemoryRefStore = new MemoryRefStore()

  /** As a process sees it, with caches of its own; `way` is the road there. */
  open(way: Way = directWay): OpenDisk {
    return {
      stores: {
        nodes: new Nodes({ store: through(this.nodes, way), hash: sha256, pacer: restlessPacer() }),
        blobs: new Blobs(through(this.blobs, way), contentWorker),
        log: through(this.log, way),
        refs: through(this.refs, way),
      },
      leases: through(this.leases, way),
      notes: through(this.notes, way),
      locks: through(this.locks, way),
      layers: through(this.layers, way),
      directory: through(this.directory, way),
    }
  }
}

interface OpenDisk {
  readonly stores: Stores
  readonly leases: LeaseStore
  readonly notes: SessionNoteStore
  readonly locks: LockStore
  readonly layers: MemoryLayerStore
  readonly directory: MemoryDirectory
}

/** Carries one call to a store and its answer back. */
export type Way = <T>(call: () => Promise<T>) => Promise<T>

const directWay: Way = (call) => call()

function through<Store extends object>(store: Store, way: Way): Store {
  return new Proxy(store, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      return (...args: readonly unknown[]): Promise<unknown> =>
        way(async () => (await Reflect.apply(member, target, args)) as unknown)
    },
  })
}

export interface WayOptions {
  readonly scheduler: Pick<Scheduler, 'after' | 'sleep'>
  readonly chance: Chance
  readonly delayMs: number
  readonly failsOneIn: () => number
  readonly isDead: () => boolean
}

/** A new one each time: what waits for a promise lives as long as the promise, and one for all would keep every world. */
function never(): Promise<never> {
  return new Promise(() => undefined)
}

/**
 * A slow road that loses things: a call may fail before it happens, after it, or happen long after
 * its sender got an error. A call that a server had on the road when it died happens or not, and no
 * one learns which.
 */
export function makeWay({ scheduler, chance, delayMs, failsOneIn, isDead }: WayOptions): Way {
  const wait = async (): Promise<void> => {
    if (delayMs > 0 && chance.oneIn(2)) await scheduler.sleep(chance.below(delayMs))
  }
  const fails = (): boolean => failsOneIn() > 0 && chance.oneIn(failsOneIn())
  return async (call) => {
    if (isDead()) return never()
    await wait()
    if (isDead() && chance.oneIn(2)) return never()
    if (fails()) {
      if (chance.oneIn(2))
        scheduler.after(chance.below(1000), () => void call().catch(() => undefined))
      throw unavailable()
    }
    const answer = await call()
    await wait()
    if (isDead()) return never()
    if (fails()) throw unavailable()
    return answer
  }
}
