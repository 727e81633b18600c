import type { Branch, Link, Op, View } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { type SessionScope, type TouchedNames, touchedBy } from '../access/session-scope.ts'

interface SeenPlace {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly scope: SessionScope
}

/** What of a batch's operations a session may know: in parts, each as the tree is in its turn. A batch has up to 4 MiB. */
export function seenOfOps(place: SeenPlace, ops: readonly Op[]): AsyncGenerator<TouchedNames> {
  return seenParts(place, ops.length, (at, view) => touchedBy(view, [ops[at]!]))
}

/** The same of what is known to have changed. */
export function seenOf(
  place: SeenPlace,
  { inodes, names }: TouchedNames,
): AsyncGenerator<TouchedNames> {
  const all = [...inodes]
  return seenParts(place, all.length + names.length, (at) =>
    at < all.length
      ? { inodes: [all[at]!], names: [] }
      : { inodes: [], names: [names[at - all.length]!] },
  )
}

async function* seenParts(
  { workspace, branch, scope }: SeenPlace,
  count: number,
  touched: (at: number, view: View) => TouchedNames,
): AsyncGenerator<TouchedNames> {
  const { nodes } = workspace.stores
  for (let next = 0; next < count;) {
    const begin = next
    yield await workspace.read(branch, (view) => {
      const [inodes, names]: [Ino[], Link[]] = [[], []]
      next = begin
      do {
        const seen = scope.touched(view, touched(next++, view))
        inodes.push(...seen.inodes)
        names.push(...seen.names)
      } while (next < count && !nodes.pacer.isDue())
      return { inodes, names }
    })
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
  }
}
