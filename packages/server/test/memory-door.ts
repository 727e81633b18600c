import { Blobs, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import type { CollectReport } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { OwnerKeys } from '../src/access/owner-keys.ts'
import { TokenKeeper } from '../src/access/token-keeper.ts'
import { type AppParts, buildApp } from '../src/http/app.ts'
import { openMasterKey } from '../src/access/master-key.ts'
import { hashSecret } from '../src/access/authenticator.ts'
import { Metrics } from '../src/metrics.ts'
import { contentWorker, sha256 } from '../src/ports/content-worker.ts'
import { systemClock } from '../src/ports/clock.ts'
import { WorkspaceKeeper } from '../src/workspaces/workspace-keeper.ts'
import { MemoryDirectory } from '../src/testing/memory-directory.ts'
import { MemoryKeyStore } from './memory-key-store.ts'
import { MemoryLayerStore } from '../src/testing/memory-layer-store.ts'
import { MemoryLeaseStore } from '../src/testing/memory-lease-store.ts'
import { MemoryLockStore } from '../src/testing/memory-lock-store.ts'
import { MemorySessionNoteStore } from '../src/testing/memory-session-note-store.ts'
import { MemoryTokenStore } from '../src/testing/memory-token-store.ts'
import { MemoryUploadStore } from '../src/testing/memory-upload-store.ts'

const none = { nodes: { count: 0, bytes: 0 }, blobs: { count: 0, bytes: 0 } }
const nothingCollected: CollectReport = {
  dryRun: true,
  layers: 0,
  branches: 0,
  checkpoints: 0,
  gone: { workspaces: [], layers: [], branches: [] },
  kept: none,
  removed: none,
  waiting: none,
}

/** The one key that it knows. */
export const secret = 'test-secret-key'

const master = await openMasterKey({ data: '', key: '00'.repeat(32) })

/** The HTTP door on stores in memory. */
export function memoryDoor(
  parts: Pick<AppParts, 'logStream' | 'attempts' | 'sql' | 'searchIndex'> = {},
): FastifyInstance {
  const clock = systemClock()
  const metrics = new Metrics()
  const [log, tokens] = [new MemoryLogStore(), new MemoryTokenStore()]
  log.onCharge = (charge) => tokens.charge(charge.account, charge)
  const refs = new MemoryRefStore()
  const pools = new Map<string, Stores>()
  const storesOf = (pool: string): Stores => {
    const stores = pools.get(pool) ?? {
      nodes: new Nodes({ store: new MemoryNodeStore(), hash: sha256 }),
      blobs: new Blobs(new MemoryBlobStore(), contentWorker),
      log,
      refs,
    }
    pools.set(pool, stores)
    return stores
  }
  return buildApp({
    workspaces: new WorkspaceKeeper({
      directory: new MemoryDirectory(),
      storesOf,
      clock,
      leases: {
        store: new MemoryLeaseStore(),
        notes: new MemorySessionNoteStore(),
        clock,
        leaseMs: 10_000,
        lookMs: 100,
      },
      locks: new MemoryLockStore(),
      observe: metrics.work,
      layers: new MemoryLayerStore(),
    }),
    uploads: new MemoryUploadStore(),
    findKey: async (hash) =>
      Buffer.from(hash).equals(hashSecret(secret)) ? { id: 'key_1', owner: 'owner_1' } : undefined,
    keys: new OwnerKeys(new MemoryKeyStore(), clock),
    tokens: new TokenKeeper({ store: tokens, master, clock }),
    collect: async () => nothingCollected,
    metrics,
    checkReady: async () => {},
    ...parts,
  })
}
