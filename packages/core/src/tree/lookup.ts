import { compareBytes, type Hash } from '@cairn/protocol'
import type { NodeEntry } from './encode.ts'
import type { TreeNode } from './node.ts'
import type { Nodes } from './nodes.ts'
import { hasLeft, openChild, type Step } from './open-child.ts'

/** Synchronous reads. They throw NodeMiss when a node is not in memory; `Nodes.read` loads and repeats. */

export function findValue(nodes: Nodes, root: Hash, key: Uint8Array): Uint8Array | undefined {
  let node = nodes.get(root)
  let left: Step | undefined
  while (node.level > 0) {
    const step = { node, index: node.lowerBound(key) }
    if (step.index === node.length) return undefined
    if (hasLeft(step)) left = step
    node = childAt(nodes, step, left)
  }
  const index = node.find(key)
  return index < 0 ? undefined : node.valueAt(index)
}

/** Entries with `from` ≤ key < `to`, ascending. */
export function* range(
  nodes: Nodes,
  root: Hash,
  from: Uint8Array,
  to: Uint8Array,
): Generator<NodeEntry> {
  yield* rangeOf(nodes, nodes.get(root), undefined, from, to)
}

function* rangeOf(
  nodes: Nodes,
  node: TreeNode,
  left: Step | undefined,
  from: Uint8Array,
  to: Uint8Array,
): Generator<NodeEntry> {
  for (let i = node.lowerBound(from); i < node.length; i++) {
    if (node.level > 0) {
      const step = { node, index: i }
      if (hasLeft(step)) left = step
      yield* rangeOf(nodes, childAt(nodes, step, left), left, from, to)
      if (node.compareKey(i, to) >= 0) return
    } else {
      const key = node.keyAt(i)
      if (compareBytes(key, to) >= 0) return
      yield { key, value: node.valueAt(i) }
    }
  }
}

/** How many entries have a key below `key`. Costs one path, thanks to the counts in inner nodes. */
export function rank(nodes: Nodes, root: Hash, key: Uint8Array): number {
  let node = nodes.get(root)
  let below = 0
  let left: Step | undefined
  for (;;) {
    const index = node.lowerBound(key)
    if (node.level === 0) return below + index
    for (let i = 0; i < index; i++) below += node.childAt(i).count
    if (index === node.length) return below
    const step = { node, index }
    if (hasLeft(step)) left = step
    node = childAt(nodes, step, left)
  }
}

function childAt(nodes: Nodes, step: Step, left: Step | undefined): TreeNode {
  return openChild(step, left, nodes.get(step.node.childHashAt(step.index)))
}
