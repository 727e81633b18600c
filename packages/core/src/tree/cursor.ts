import type { Hash } from '@cairn/protocol'
import type { TreeNode } from './node.ts'
import type { Nodes } from './nodes.ts'
import { hasLeft, openChild, type Step } from './open-child.ts'

interface Frame extends Step {
  index: number
}

/**
 * Walks a tree in key order and stops at whole subtrees, so that a walk over two trees can skip what they
 * share. Standing on an entry of level > 0 means: this subtree, not yet entered.
 */
export class TreeCursor {
  readonly #nodes: Nodes
  readonly #frames: Frame[] = []

  private constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  static async open(nodes: Nodes, root: Hash): Promise<TreeCursor> {
    const cursor = new TreeCursor(nodes)
    const node = nodes.peek(root) ?? (await nodes.load(root))
    if (node.length > 0) cursor.#frames.push({ node, index: 0 })
    return cursor
  }

  get done(): boolean {
    return this.#frames.length === 0
  }

  get level(): number {
    return this.#top.node.level
  }

  get key(): Uint8Array {
    return this.#top.node.keyAt(this.#top.index)
  }

  /** A leaf's value, or the encoded reference to a subtree. */
  get value(): Uint8Array {
    return this.#top.node.valueAt(this.#top.index)
  }

  get childHash(): Hash {
    return this.#top.node.childHashAt(this.#top.index)
  }

  async enter(): Promise<void> {
    const { pacer } = this.#nodes
    if (pacer.isDue()) await pacer.rest()
    const hash = this.childHash
    const child = this.#nodes.peek(hash) ?? (await this.#nodes.load(hash))
    const node = openChild(this.#top, this.#frames.findLast(hasLeft), child)
    this.#frames.push({ node, index: 0 })
  }

  /**
   * Loads all at once what a walk over both will enter: the subtrees ahead of one that the other does not have. One by
   * one, each would cost a round trip where the store is far away.
   */
  async loadAhead(other: TreeCursor): Promise<void> {
    if (this.done || other.done || this.level === 0 || this.level !== other.level) return
    const own = this.#childrenUpTo(other.#top.node)
    const others = other.#childrenUpTo(this.#top.node)
    const missing = [...own, ...others].filter(
      (hash) => own.has(hash) !== others.has(hash) && !this.#nodes.peek(hash),
    )
    if (missing.length > 0) await this.#nodes.loadAll(missing)
  }

  /** From here to where `other` ends: what lies behind may be the same in the node that follows it. */
  #childrenUpTo(other: TreeNode): Set<Hash> {
    const { node, index } = this.#top
    const hashes = new Set<Hash>()
    for (let i = index; i < node.length; i++) {
      if (node.compareKeys(i, other, other.length - 1) > 0) break
      hashes.add(node.childHashAt(i))
    }
    return hashes
  }

  next(): void {
    this.#advance(1)
  }

  /** Passes what lies ahead of both and is the same: entries of the same node level, whole subtrees included. */
  skipCommon(other: TreeCursor): void {
    while (!this.done && !other.done && this.level === other.level) {
      const run = this.#top.node.commonRun(this.#top.index, other.#top.node, other.#top.index)
      if (run === 0) return
      this.#advance(run)
      other.#advance(run)
    }
  }

  #advance(count: number): void {
    this.#top.index += count
    while (this.#frames.length > 0 && this.#top.index === this.#top.node.length) {
      this.#frames.pop()
      if (this.#frames.length > 0) this.#top.index++
    }
  }

  /** From the start to the first leaf entry not below `key`; `done` when there is none. */
  async seek(key: Uint8Array): Promise<void> {
    while (!this.done) {
      const top = this.#top
      top.index = Math.max(top.index, top.node.lowerBound(key))
      if (top.index === top.node.length) return void this.#frames.pop()
      if (top.node.level === 0) return
      await this.enter()
    }
  }

  get #top(): Frame {
    return this.#frames[this.#frames.length - 1]!
  }
}
