import type { Hash } from '@cairn/protocol'
import type { NodeEntry } from './encode.ts'
import type { TreeNode } from './node.ts'
import type { Nodes } from './nodes.ts'
import { hasLeft, openChild, type Step } from './open-child.ts'

/** Visits the nodes of one level from left to right. */
export class LevelCursor {
  readonly #nodes: Nodes
  readonly #level: number
  /** The way down from the root: inner nodes above the level. */
  #path: Step[]
  node: TreeNode

  private constructor(nodes: Nodes, level: number, path: Step[], node: TreeNode) {
    this.#nodes = nodes
    this.#level = level
    this.#path = path
    this.node = node
  }

  /** Stands on the node that holds `key` or would receive it. */
  static async seek(
    nodes: Nodes,
    root: Hash,
    level: number,
    key: Uint8Array,
  ): Promise<LevelCursor> {
    let node = nodes.peek(root) ?? (await nodes.load(root))
    const path: Step[] = []
    while (node.level > level) {
      const index = Math.min(node.lowerBound(key), node.length - 1)
      path.push({ node, index })
      node = await childAt(nodes, path)
    }
    return new LevelCursor(nodes, level, path, node)
  }

  get isLast(): boolean {
    return this.#path.every(({ node, index }) => index === node.length - 1)
  }

  /** The node as its parent has it. The root has no parent: an empty value stands for what it was. */
  parentEntry(): NodeEntry {
    const parent = this.#path.at(-1)
    if (parent)
      return { key: parent.node.keyAt(parent.index), value: parent.node.valueAt(parent.index) }
    return { key: this.node.keyAt(this.node.length - 1), value: new Uint8Array() }
  }

  async next(): Promise<void> {
    let depth = this.#path.length - 1
    while (this.#path[depth]!.index === this.#path[depth]!.node.length - 1) depth--
    const turn = this.#path[depth]!
    this.#path = [...this.#path.slice(0, depth), { node: turn.node, index: turn.index + 1 }]
    let node = await childAt(this.#nodes, this.#path)
    while (node.level > this.#level) {
      this.#path.push({ node, index: 0 })
      node = await childAt(this.#nodes, this.#path)
    }
    this.node = node
  }
}

/** What the path leads to. */
async function childAt(nodes: Nodes, path: readonly Step[]): Promise<TreeNode> {
  if (nodes.pacer.isDue()) await nodes.pacer.rest()
  const step = path[path.length - 1]!
  const hash = step.node.childHashAt(step.index)
  return openChild(step, path.findLast(hasLeft), nodes.peek(hash) ?? (await nodes.load(hash)))
}
