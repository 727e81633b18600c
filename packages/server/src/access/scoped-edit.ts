import {
  type Changes,
  growthOf,
  noUsage,
  type Op,
  requireOperation,
  scopedView,
  type Steps,
  type Usage,
  type View,
} from '@cairn/core'
import type { Scope } from './access.ts'
import { requireLeft } from './budget.ts'

/** What a change by a token is held to, while it is decided. */
export interface ScopedEdit {
  /** The tree as it is there for the token. */
  see(view: View): View
  /** Refuses an operation by throwing. */
  require(view: View, op: Op): void
  /** Refuses what adds more than the token may. `below` is the tree without the changes. */
  count(changes: Changes, below: View): Steps<void>
}

/** Makes a change within a scope; of what it adds, the token's budget is told. */
export function editScope<T>(
  { grant, budget }: Scope,
  change: (edit: ScopedEdit) => Promise<T>,
): Promise<T> {
  const see = (view: View): View => scopedView(view, grant)
  const require = (view: View, op: Op): void => requireOperation(view, grant, op)
  if (!budget) return change({ see, require, count: countNothing })
  return budget.spend(async (left) => {
    let added: Usage = noUsage
    const count = function* (changes: Changes, below: View): Steps<void> {
      added = yield* growthOf(changes, below)
      requireLeft(added, left)
    }
    const result = await change({ see, require, count })
    return { result, added }
  })
}

function* countNothing(): Steps<void> {}
