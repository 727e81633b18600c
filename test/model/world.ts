import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import {
  Blobs,
  type BlobStore,
  type ContentWorker,
  type Data,
  findLostBatches,
  type LogStore,
  Nodes,
  type NodeStore,
  type Op,
  type RefStore,
  ScratchStore,
  type Stores,
  type View,
} from '@cairn/core'
import { restlessPacer } from '@cairn/core/testing'
import type { BranchId, Hash, SessionId } from '@cairn/protocol'
import { expect } from 'vitest'
import { sha256 } from '@cairn/server'
import { MemoryDisk } from '@cairn/server/testing'
import { describeCore, describeModel } from './describe.ts'
import { Model } from './model.ts'
import { Resolver } from './resolve.ts'

/** Never leaves the thread: what happens in which order then depends on the seed alone, not on the machine. */
const contentWorker: ContentWorker = {
  hash: async (bytes) => sha256(bytes),
  compress: async (bytes) => zstdCompressSync(bytes),
  decompress: async (bytes, length) =>
    zstdDecompressSync(bytes, { maxOutputLength: Math.max(1, length) }),
}

/** Puts wrappers around some of the stores. */
export type Around = (disk: Disk) => Partial<Disk>

interface Disk {
  readonly nodes: NodeStore
  readonly blobs: BlobStore
  readonly log: LogStore
  readonly refs: RefStore
}

/** The stores of one test run, and what all its models share. */
export class World {
  readonly disk: MemoryDisk = new MemoryDisk()
  readonly resolver: Resolver = new Resolver((blob, start, length) =>
    this.#storeBlob(blob, start, length),
  )
  readonly #blobs = new Map<Hash, Uint8Array>()
  #sessions = 0

  /** Each call opens them with empty caches, as another process would. */
  openStores(around: Around = () => ({})): Stores {
    const { nodes, blobs, log, refs } = this.disk
    const disk: Disk = { nodes, blobs, log, refs }
    const opened = { ...disk, ...around(disk) }
    return {
      nodes: new Nodes({ store: opened.nodes, hash: sha256, pacer: restlessPacer() }),
      blobs: new Blobs(opened.blobs, contentWorker),
      log: opened.log,
      refs: opened.refs,
    }
  }

  newSession(): SessionId {
    return `session ${++this.#sessions}` as SessionId
  }

  newModel(): Model {
    return new Model(this.#blobs)
  }

  /** A log that was trimmed names it, and the model has to know it all the same. */
  noteContent(ops: readonly Op[]): void {
    for (const op of ops)
      if ('data' in op && op.data.type === 'bytes')
        this.#blobs.set(sha256(op.data.bytes), op.data.bytes)
  }

  async #storeBlob(bytes: Uint8Array, start: number, length: number): Promise<Data> {
    const blobs = new Blobs(this.disk.blobs, contentWorker)
    const sealed = await blobs.seal(bytes)
    await blobs.store([sealed])
    this.#blobs.set(sealed.id, bytes)
    return { type: 'blob', id: sealed.id, blobLength: bytes.length, start, length }
  }

  /** What `cairn server check` would say of a branch. */
  async expectNothingLost(branch: BranchId): Promise<void> {
    const scratch = this.openStores(({ nodes, blobs }) => ({
      nodes: new ScratchStore(nodes),
      blobs: new ScratchStore(blobs),
    }))
    for await (const lost of findLostBatches(scratch, branch)) expect(lost).toBeUndefined()
  }

  /** Whether a tree is what the model says, down to the last byte. */
  async expectSame(stores: Stores, view: View, model: Model): Promise<void> {
    const { inos } = this.resolver
    expect(await describeCore(stores, view, inos, model)).toEqual(describeModel(model, inos))
  }
}
