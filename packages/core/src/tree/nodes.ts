import { CairnError, formatHash, type Hash } from '@cairn/protocol'
import type { HashFunction } from '../ports/hash.ts'
import type { NodeStore } from '../ports/node-store.ts'
import { noPacer, type Pacer } from '../ports/pacer.ts'
import { encodeNode } from './encode.ts'
import { NodeMiss } from './node-miss.ts'
import { openNode, type TreeNode } from './node.ts'
import type { Steps } from './steps.ts'

export interface NodesOptions {
  readonly store: NodeStore
  readonly hash: HashFunction
  /** How many bytes of nodes to keep in memory, about. */
  readonly cacheBytesMax?: number
  /** Whom long walks let have their turn. */
  readonly pacer?: Pacer
}

/**
 * Tree nodes as they are needed: from memory at once, from the store with their hash checked. Nodes never
 * change, so nothing here can be stale.
 */
export class Nodes {
  readonly hash: HashFunction
  readonly pacer: Pacer
  /** The root of the tree without entries. Known to everyone, so it is never stored. */
  readonly emptyRoot: Hash
  readonly #empty: TreeNode
  readonly #store: NodeStore
  readonly #generationBytesMax: number
  // Two generations instead of a list in order of use: a hit costs one or two map look-ups and no writes.
  #young = new Map<Hash, TreeNode>()
  #old = new Map<Hash, TreeNode>()
  #youngBytes = 0
  readonly #loading = new Map<Hash, Promise<TreeNode>>()
  /**
   * What each read in progress had to load. It stays until the read ends: one that needs more than the cache
   * holds would otherwise load and lose the same nodes for ever.
   */
  readonly #held = new Set<ReadonlyMap<Hash, TreeNode>>()

  constructor(options: NodesOptions) {
    this.#store = options.store
    this.hash = options.hash
    this.pacer = options.pacer ?? noPacer
    this.#generationBytesMax = (options.cacheBytesMax ?? 256 << 20) / 2
    const empty = encodeNode(0, [])
    this.emptyRoot = this.hash(empty)
    this.#empty = openNode(empty, this.emptyRoot)
  }

  peek(hash: Hash): TreeNode | undefined {
    const young = this.#young.get(hash)
    if (young) return young
    const old = this.#old.get(hash)
    if (old) this.#keep(hash, old)
    return old ?? this.#peekHeld(hash)
  }

  /** Throws NodeMiss. */
  get(hash: Hash): TreeNode {
    const node = this.peek(hash)
    if (!node) throw new NodeMiss([hash])
    return node
  }

  /** Concurrent loads of one node share one fetch. */
  load(hash: Hash): Promise<TreeNode> {
    const present = this.peek(hash)
    if (present) return Promise.resolve(present)
    const pending = this.#loading.get(hash)
    if (pending) return pending
    const fetch = this.#fetch(hash).finally(() => this.#loading.delete(hash))
    this.#loading.set(hash, fetch)
    return fetch
  }

  loadAll(hashes: readonly Hash[]): Promise<readonly TreeNode[]> {
    return Promise.all(hashes.map((hash) => this.load(hash)))
  }

  async store(nodes: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    if (nodes.size === 0) return
    await this.#store.put(nodes)
    for (const [hash, bytes] of nodes) {
      if (this.pacer.isDue()) await this.pacer.rest()
      this.#keep(hash, openNode(bytes, hash))
    }
  }

  /** Runs a synchronous read to its end, loading what it misses. It may run several times. */
  read<T>(synchronousRead: () => T): Promise<T> {
    return this.#repeat(synchronousRead)
  }

  /** The same for a long read: others have their turn between its steps. */
  readSteps<T>(begin: () => Steps<T>): Promise<T> {
    return this.#repeat(() => this.run(begin()))
  }

  /** Runs steps to their end, resting where it is due. */
  async run<T>(steps: Steps<T>): Promise<T> {
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      if (this.pacer.isDue()) await this.pacer.rest()
    }
  }

  async #repeat<T>(read: () => T | Promise<T>): Promise<T> {
    const held = new Map<Hash, TreeNode>()
    try {
      for (;;) {
        try {
          const result = read()
          return result instanceof Promise ? await result : result
        } catch (miss) {
          if (!(miss instanceof NodeMiss)) throw miss
          const loaded = await this.loadAll(miss.hashes)
          for (const [index, hash] of miss.hashes.entries()) held.set(hash, loaded[index]!)
          this.#held.add(held)
        }
      }
    } finally {
      this.#held.delete(held)
    }
  }

  /** Does the same for each item. Waits only for what it misses, which a promise for each would not. */
  async readEach<T>(items: Iterable<T>, synchronousRead: (item: T) => void): Promise<void> {
    for (const item of items) {
      if (this.pacer.isDue()) await this.pacer.rest()
      try {
        synchronousRead(item)
      } catch (miss) {
        if (!(miss instanceof NodeMiss)) throw miss
        await this.loadAll(miss.hashes)
        await this.read(() => synchronousRead(item))
      }
    }
  }

  #peekHeld(hash: Hash): TreeNode | undefined {
    if (hash === this.emptyRoot) return this.#empty
    for (const held of this.#held) {
      const node = held.get(hash)
      if (node) return node
    }
    return undefined
  }

  async #fetch(hash: Hash): Promise<TreeNode> {
    const bytes = await this.#store.get(hash)
    if (this.hash(bytes) !== hash)
      throw new CairnError('corrupt', {
        what: `read tree node ${formatHash(hash)}`,
        reason: 'its bytes have another hash',
        subject: formatHash(hash),
      })
    const node = openNode(bytes, hash)
    this.#keep(hash, node)
    return node
  }

  #keep(hash: Hash, node: TreeNode): void {
    if (this.#youngBytes > this.#generationBytesMax) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngBytes = 0
    }
    if (this.#young.has(hash)) return
    this.#young.set(hash, node)
    this.#youngBytes += node.bytes.length
  }
}
