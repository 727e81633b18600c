import { CairnError, formatHash } from '@cairn/protocol'
import type { TreeNode } from './node.ts'

/** A step down: from a node to its child at `index`. */
export interface Step {
  readonly node: TreeNode
  readonly index: number
}

/**
 * A child must be one level below its parent, end with the key its parent says, and begin behind
 * everything to its left: `left` is the last step on the way down, this one included, that left
 * something there. Hashes catch accidents; this catches trees that an attacker built to make a walk
 * endless, by going through the same nodes again and again, or to make a key unfindable.
 */
export function openChild(step: Step, left: Step | undefined, child: TreeNode): TreeNode {
  const { node, index } = step
  if (
    child.level === node.level - 1 &&
    child.length > 0 &&
    child.compareKeys(child.length - 1, node, index) === 0 &&
    (!left || child.compareKeys(0, left.node, left.index - 1) > 0)
  )
    return child
  const id = formatHash(node.childHashAt(index))
  throw new CairnError('malformed', {
    what: `read tree node ${id}`,
    reason: 'it does not fit its parent',
    subject: id,
  })
}

/** Whether something stands to the left of it in the same node. */
export function hasLeft({ index }: Step): boolean {
  return index > 0
}
