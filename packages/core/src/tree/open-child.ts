import { CairnError, formatHash } from '@cairn/protocol'
import type { TreeNode } from './node.ts'

/**
 * A child must stand one level below its parent and end with the key its parent says. Hashes keep out
 * accidents; this keeps out trees that somebody built to make a walk endless or a key unfindable.
 */
export function openChild(parent: TreeNode, index: number, child: TreeNode): TreeNode {
  const last = child.length - 1
  if (
    child.level === parent.level - 1 &&
    last >= 0 &&
    parent.compareKey(index, child.keyAt(last)) === 0
  )
    return child
  const id = formatHash(parent.childHashAt(index))
  throw new CairnError('malformed', {
    message: `cannot read tree node ${id}: it does not fit its parent`,
    subject: id,
  })
}
