import { Blobs, Nodes, type Stores } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
  restlessPacer,
} from '@cairn/core/testing'
import type { FastifyInstance } from 'fastify'
import { buildApp } from '../http/app.ts'
import { hashSecret } from '../access/authenticator.ts'
import { Metrics } from '../metrics.ts'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import { MemoryDirectory } from './memory-directory.ts'
import { MemoryLayerStore } from './memory-layer-store.ts'
import { MemoryLeaseStore } from './memory-lease-store.ts'
import { MemoryLockStore } from './memory-lock-store.ts'
import { MemorySessionNoteStore } from './memory-session-note-store.ts'
import { MemoryUploadStore } from './memory-upload-store.ts'

const secret = 'test-secret-key'

export interface Answer<T = never> {
  readonly status: number
  readonly body: string
  readonly json: T
}

interface OpenApi {
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly parameters: readonly { name: string }[] }>>>
  >
}

/** A server in this process. */
export interface MemoryServer {
  readonly workspaces: WorkspaceKeeper
  call<T = never>(
    method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE',
    url: string,
    payload?: string | object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer<T>>
  openApi(): Promise<OpenApi>
}

export interface MemoryServers {
  /** One more, that remembers nothing yet. */
  readonly open: (clock?: Clock) => MemoryServer
  /** How often all of them together have asked the stores something. */
  readonly asked: () => number
}

/** Puts something between a server and a store. */
type Around = <Store extends object>(store: Store) => Store

/** Any number of servers that share their stores, as several share a database. */
export function memoryServers(
  clock: Clock = systemClock(),
  around: Around = (store) => store,
): MemoryServers {
  let asked = 0
  const count: Around = (store) => counted(around(store), () => asked++)
  const [log, refs] = [count(new MemoryLogStore()), count(new MemoryRefStore())]
  const [nodeStore, blobStore] = [count(new MemoryNodeStore()), count(new MemoryBlobStore())]
  const notes = count(new MemorySessionNoteStore())
  const [directory, leaseStore] = [count(new MemoryDirectory()), count(new MemoryLeaseStore())]
  const [layers, locks] = [count(new MemoryLayerStore()), count(new MemoryLockStore())]
  return {
    asked: () => asked,
    open: (own = clock) => {
      const stores: Stores = {
        nodes: new Nodes({ store: nodeStore, hash: sha256, pacer: restlessPacer() }),
        blobs: new Blobs(blobStore, contentWorker),
        log,
        refs,
      }
      const leases = { store: leaseStore, notes, clock: own, leaseMs: 10_000, lookMs: 10 }
      const storesOf = (): Stores => stores
      const parts = { directory, storesOf, clock: own, leases, locks, layers, isShared: true }
      return openServer(new WorkspaceKeeper(parts))
    },
  }
}

/** The same store; each call of a method is counted. */
function counted<Store extends object>(store: Store, count: () => void): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const value: unknown = Reflect.get(target, key)
      if (typeof value !== 'function') return value
      return (...values: unknown[]): unknown => {
        count()
        return Reflect.apply(value, target, values) as unknown
      }
    },
  })
}

function openServer(workspaces: WorkspaceKeeper): MemoryServer {
  const app = buildApp({
    workspaces,
    uploads: new MemoryUploadStore(),
    findKey: async (hash) =>
      Buffer.from(hash).equals(hashSecret(secret)) ? { id: 'key_1', owner: 'o' } : undefined,
    metrics: new Metrics(),
    checkReady: async () => {},
  })
  return {
    workspaces,
    openApi: async () =>
      (await app.inject({ method: 'GET', url: '/v1/openapi.json' })).json() as OpenApi,
    call: (method, url, payload, headers = {}) => call(app, method, url, payload, headers),
  }
}

async function call<T>(
  app: FastifyInstance,
  method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE',
  url: string,
  payload: string | object | undefined,
  headers: Readonly<Record<string, string>>,
): Promise<Answer<T>> {
  const answer = await app.inject({
    method,
    url: `/v1/workspaces${url}`,
    headers: { authorization: `Bearer ${secret}`, ...headers },
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = String(answer.headers['content-type']).includes('application/json')
  return {
    status: answer.statusCode,
    body: answer.body,
    json: (isJson && answer.body !== '' ? answer.json() : undefined) as T,
  }
}
