import { compareBytes, type Hash } from '@cairn/protocol'
import { diff, type TreeChange } from './diff.ts'
import type { Nodes } from './nodes.ts'

/** A key that at least one side changed since the base. */
export interface ThreeWayChange {
  readonly key: Uint8Array
  readonly base: Uint8Array | undefined
  readonly left: Uint8Array | undefined
  readonly right: Uint8Array | undefined
  readonly changedBy: 'left' | 'right' | 'both'
}

/** Walks what two roots changed since their common base, ascending by key. Costs the size of the changes. */
export async function* threeWay(
  nodes: Nodes,
  base: Hash,
  left: Hash,
  right: Hash,
): AsyncGenerator<ThreeWayChange> {
  const lefts = diff(nodes, base, left)
  const rights = diff(nodes, base, right)
  let l = (await lefts.next()).value as TreeChange | undefined
  let r = (await rights.next()).value as TreeChange | undefined
  while (l || r) {
    const order = !l ? 1 : !r ? -1 : compareBytes(l.key, r.key)
    yield join(order <= 0 ? l : undefined, order >= 0 ? r : undefined)
    if (order <= 0) l = (await lefts.next()).value as TreeChange | undefined
    if (order >= 0) r = (await rights.next()).value as TreeChange | undefined
  }
}

function join(l: TreeChange | undefined, r: TreeChange | undefined): ThreeWayChange {
  const { key, before } = (l ?? r)!
  const changedBy = l && r ? 'both' : l ? 'left' : 'right'
  return { key, base: before, left: l ? l.after : before, right: r ? r.after : before, changedBy }
}
