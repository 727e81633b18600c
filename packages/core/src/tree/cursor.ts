import type { Hash } from '@cairn/protocol'
import type { TreeNode } from './node.ts'
import type { Nodes } from './nodes.ts'
import { openChild } from './open-child.ts'

interface Frame {
  readonly node: TreeNode
  index: number
}

/**
 * Walks a tree in key order and stops at whole subtrees, so that a walk over two trees can skip what they
 * share. Standing on an entry of level > 0 means: this subtree, not yet entered.
 */
export class Cursor {
  readonly #nodes: Nodes
  readonly #frames: Frame[] = []

  private constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  static async open(nodes: Nodes, root: Hash): Promise<Cursor> {
    const cursor = new Cursor(nodes)
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
    const { node, index } = this.#top
    const hash = node.childHashAt(index)
    const child = this.#nodes.peek(hash) ?? (await this.#nodes.load(hash))
    this.#frames.push({ node: openChild(node, index, child), index: 0 })
  }

  next(): void {
    this.#top.index++
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
