import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Blobs, Nodes, type Op, type Stores, type Time } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
  restlessPacer,
} from '@cairn/core/testing'
import {
  type Connect,
  connectWebSocket,
  SessionClient,
  type SessionEvents,
  type SessionOptions,
  type Wire,
} from '@cairn/mount'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import {
  buildApp,
  contentWorker,
  hashSecret,
  Metrics,
  openMasterKey,
  openSessionDoor,
  type SessionDoorParts,
  sha256,
  systemClock,
  TokenKeeper,
  AccessWatch,
  WorkspaceKeeper,
} from '@cairn/server'
import {
  MemoryDirectory,
  MemoryLayerStore,
  MemoryLeaseStore,
  MemoryLockStore,
  MemorySessionNoteStore,
  MemoryTokenStore,
  MemoryTraceStore,
  MemoryUploadStore,
} from '@cairn/server/testing'
import { expect } from 'vitest'

export const secret = 'a-secret-for-tests'

/** What servers share: with it, any number of them serve the same workspaces. */
export class SharedStores {
  readonly directory = new MemoryDirectory()
  readonly leases = new MemoryLeaseStore()
  readonly notes = new MemorySessionNoteStore()
  readonly locks = new MemoryLockStore()
  readonly layers = new MemoryLayerStore()
  readonly uploads = new MemoryUploadStore()
  readonly tokens = new MemoryTokenStore()
  readonly traces = new MemoryTraceStore()
  readonly #nodes = new MemoryNodeStore()
  readonly #blobs = new MemoryBlobStore()
  readonly #log = new MemoryLogStore()
  readonly #refs = new MemoryRefStore()

  /** Whether there may be several servers. */
  readonly isShared: boolean

  constructor(isShared = true) {
    this.isShared = isShared
    this.#log.onCharge = (charge) => this.tokens.charge(charge.account, charge)
  }

  open(): Stores {
    return {
      nodes: new Nodes({ store: this.#nodes, hash: sha256, pacer: restlessPacer() }),
      blobs: new Blobs(this.#blobs, contentWorker),
      log: this.#log,
      refs: this.#refs,
    }
  }
}

export interface RunningServer {
  readonly url: string
  readonly workspaces: WorkspaceKeeper
  readonly close: () => Promise<void>
}

/** Its `close` may be called again. */
export async function startServer(
  shared: SharedStores,
  leaseMs: number,
  port = 0,
  door: Pick<SessionDoorParts, 'heartbeatMs' | 'places' | 'helloMs'> = {},
): Promise<RunningServer> {
  const clock = systemClock()
  const metrics = new Metrics()
  const stores = shared.open()
  const workspaces = new WorkspaceKeeper({
    directory: shared.directory,
    storesOf: () => stores,
    clock,
    leases: { store: shared.leases, notes: shared.notes, clock, leaseMs, lookMs: 20 },
    locks: shared.locks,
    traces: shared.traces,
    observe: metrics.work,
    layers: shared.layers,
    isShared: shared.isShared,
  })
  const findKey = async (hash: Uint8Array) =>
    Buffer.from(hash).equals(hashSecret(secret)) ? { id: 'key_1', owner: 'owner_1' } : undefined
  const master = await openMasterKey({ data: '', key: '00'.repeat(32) })
  const tokens = new TokenKeeper({ store: shared.tokens, master, clock })
  const watch = new AccessWatch(tokens)
  const app = buildApp({
    workspaces,
    uploads: shared.uploads,
    findKey,
    tokens,
    watch,
    metrics,
    checkReady: async () => {},
  })
  const closeDoor = openSessionDoor(app.server, {
    workspaces,
    findKey,
    tokens,
    watch,
    leaseMs,
    ...door,
  })
  await app.listen({ host: '127.0.0.1', port })
  const { port: listening } = app.server.address() as AddressInfo
  const end = async (): Promise<void> => {
    closeDoor()
    watch.close()
    await app.close()
  }
  let ended: Promise<void> | undefined
  return { url: `http://127.0.0.1:${listening}`, workspaces, close: () => (ended ??= end()) }
}

/** Makes the workspace `w`, which sessions work in unless they name another. */
export async function createWorkspace(server: RunningServer): Promise<void> {
  expect((await call(server, 'POST', '', '{"name":"w"}')).status).toBe(201)
}

/** A network that can be cut: messages on their way are lost, and no connection gets through. */
export class Network {
  #isCut = false
  readonly #wires = new Set<Wire>()

  cut(): void {
    this.#isCut = true
    for (const wire of this.#wires) wire.close()
  }

  heal(): void {
    this.#isCut = false
  }

  through(connect: Connect): Connect {
    return async (events) => {
      if (this.#isCut) throw new Error('the network is cut')
      const wire = await connect({
        onReply: (reply) => {
          if (!this.#isCut) events.onReply(reply)
        },
        onClose: () => events.onClose(),
      })
      this.#wires.add(wire)
      return {
        ...wire,
        send: (request) => {
          if (!this.#isCut) wire.send(request)
        },
      }
    }
  }
}

interface SessionExtras extends Partial<SessionOptions>, SessionEvents {
  readonly network?: Network
  readonly key?: string
  readonly heartbeatMs?: number
  /** It does not say what it has seen unless the test does. */
  readonly isSilent?: boolean
}

export function openSession(
  server: Pick<RunningServer, 'url'>,
  more: SessionExtras = {},
): SessionClient {
  const { network = new Network(), key = secret, heartbeatMs = 10_000, isSilent, ...options } = more
  const client = new SessionClient({
    connect: network.through(connectWebSocket(server.url, key, { heartbeatMs })),
    clock: { sleep: (ms) => setTimeout(ms, undefined, { ref: false }) },
    workspace: 'w',
    branch: 'main',
    mode: 'write',
    ...options,
  })
  return client.start({
    ...options,
    onBatch: (bytes) => {
      options.onBatch?.(bytes)
      if (!isSilent) client.seen(client.seq)
    },
  })
}

export async function call(
  server: RunningServer,
  method: string,
  path: string,
  body?: string,
  more: Readonly<Record<string, string>> = {},
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${secret}`, ...more }
  const answer = await fetch(`${server.url}/v1/workspaces${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  })
  return { status: answer.status, text: await answer.text() }
}

let clock = 1
export function now(): Time {
  return { sec: 1_790_000_000 + clock++, nsec: 0 }
}

export function createFile(name: string, ino: number, parent: number = rootIno): Op {
  return create('file', name, ino, parent)
}

export function createDirectory(name: string, ino: number, parent: number = rootIno): Op {
  return create('directory', name, ino, parent)
}

function create(kind: 'file' | 'directory', name: string, ino: number, parent: number): Op {
  return {
    type: 'create',
    time: now(),
    parent: parent as Ino,
    name: name as Name,
    ino: ino as Ino,
    kind,
    mode: kind === 'file' ? 0o644 : 0o755,
    uid: 0,
    gid: 0,
    rdev: 0,
    target: undefined,
  }
}

export function writeBytes(ino: number, text: string): Op {
  return {
    type: 'write',
    time: now(),
    ino: ino as Ino,
    offset: 0,
    data: { type: 'bytes', bytes: new TextEncoder().encode(text) },
    dropPrivileges: false,
  }
}

/** Waits for a fact that other processes or servers make true; fails by the test's own timeout. */
export async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fact())) await setTimeout(5)
}
