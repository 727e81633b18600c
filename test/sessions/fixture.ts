import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Blobs, Nodes, type Op, type Stores, type Time } from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import { type Connect, connectWebSocket, SessionClient, type Wire } from '@cairn/mount'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import {
  buildApp,
  contentWorker,
  hashSecret,
  Metrics,
  openSessionDoor,
  sha256,
  systemClock,
  Workspaces,
} from '@cairn/server'
import { MemoryDirectory, MemoryLeaseStore, MemoryUploadStore } from '@cairn/server/testing'

const secret = 'a-secret-for-tests'

/** What servers share: with it, any number of them serve the same workspaces. */
export class SharedStores {
  readonly directory = new MemoryDirectory()
  readonly leases = new MemoryLeaseStore()
  readonly uploads = new MemoryUploadStore()
  readonly #nodes = new MemoryNodeStore()
  readonly #blobs = new MemoryBlobStore()
  readonly #log = new MemoryLogStore()
  readonly #refs = new MemoryRefStore()

  open(): Stores {
    return {
      nodes: new Nodes({ store: this.#nodes, hash: sha256 }),
      blobs: new Blobs(this.#blobs, contentWorker),
      log: this.#log,
      refs: this.#refs,
    }
  }
}

export interface RunningServer {
  readonly url: string
  readonly close: () => Promise<void>
}

export async function startServer(
  shared: SharedStores,
  leaseMs: number,
  port = 0,
): Promise<RunningServer> {
  const clock = systemClock()
  const stores = shared.open()
  const workspaces = new Workspaces({
    directory: shared.directory,
    storesOf: () => stores,
    clock,
    leases: { store: shared.leases, clock, leaseMs, lookMs: 20 },
  })
  const findKey = async (hash: Uint8Array) =>
    Buffer.from(hash).equals(hashSecret(secret)) ? { id: 'key_1', owner: 'owner_1' } : undefined
  const app = buildApp({
    workspaces,
    uploads: shared.uploads,
    findKey,
    metrics: new Metrics(),
    checkReady: async () => {},
  })
  const closeDoor = openSessionDoor(app.server, { workspaces, findKey, leaseMs })
  await app.listen({ host: '127.0.0.1', port })
  const { port: listening } = app.server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${listening}`,
    close: async () => {
      closeDoor()
      await app.close()
    },
  }
}

/** A network that can be cut: what is on its way is lost, and nobody gets through. */
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
        send: (request) => {
          if (!this.#isCut) wire.send(request)
        },
        close: () => wire.close(),
      }
    }
  }
}

interface SessionExtras {
  readonly onRescue?: (outcome: string) => void
  readonly network?: Network
}

export function openSession(server: RunningServer, more: SessionExtras = {}): SessionClient {
  const { network = new Network(), ...hooks } = more
  return new SessionClient({
    connect: network.through(connectWebSocket(server.url, secret)),
    clock: { sleep: (ms) => setTimeout(ms, undefined, { ref: false }) },
    workspace: 'w',
    branch: 'main',
    mode: 'write',
    ...hooks,
  })
}

export async function call(
  server: RunningServer,
  method: string,
  path: string,
  body?: string,
): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${secret}` }
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

export function createFile(name: string, ino: number): Op {
  return {
    type: 'create',
    time: now(),
    parent: rootIno,
    name: name as Name,
    ino: ino as Ino,
    kind: 'file',
    mode: 0o644,
    uid: 0,
    gid: 0,
    rdev: 0,
    target: undefined,
  }
}

/** Waits for a fact that other processes or servers make true; fails by the test's own timeout. */
export async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fact())) await setTimeout(5)
}
