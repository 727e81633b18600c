import {
  type Changes,
  type Charge,
  growthOf,
  inoReplacing,
  type IsOwn,
  noUsage,
  type Op,
  requireOperation,
  scopedView,
  type Steps,
  type Usage,
  type View,
} from '@cairn/core'
import { type Ino, removesOwn } from '@cairn/protocol'
import { requireLeft } from '../leases/over-budget.ts'
import type { Scope } from './access.ts'
import type { Holdings } from './holdings.ts'

/** What a change by a token is held to, while it is decided. */
export interface ScopedEdit {
  /** The tree as it is there for the token. */
  see(view: View): View
  /** Refuses an operation by throwing. */
  require(view: View, op: Op): void
  /** Refuses what adds more than the token may. `below` is the tree without the changes. */
  count(changes: Changes, below: View): Steps<void>
  /** For what was counted last. */
  charge(): Charge | undefined
}

/** Thrown when a file is about to replace another client's file, which must be noted first. */
class NotNoted {
  readonly ino: Ino

  constructor(ino: Ino) {
    this.ino = ino
  }
}

/** Makes a change within a scope; of what it adds, the token's budget is told. */
export async function editScope<T>(
  scope: Scope,
  holdings: Holdings,
  change: (edit: ScopedEdit) => Promise<T>,
): Promise<T> {
  if (removesOwn(scope.grant)) await holdings.load()
  for (const noted = new Set<Ino>(); ;) {
    try {
      return await editNoted(scope, { isOwn: holdings.isOwn, noted }, change)
    } catch (error) {
      if (!(error instanceof NotNoted)) throw error
      await holdings.noteReplaced([error.ino])
      noted.add(error.ino)
    }
  }
}

interface Owned {
  readonly isOwn: IsOwn
  /** No longer the token's own once this change has moved them. */
  readonly noted: ReadonlySet<Ino>
}

function editNoted<T>(
  { grant, budget }: Scope,
  { isOwn, noted }: Owned,
  change: (edit: ScopedEdit) => Promise<T>,
): Promise<T> {
  const moved = new Set<Ino>()
  const isOwnNow = (ino: Ino): boolean => (isOwn(ino) || noted.has(ino)) && !moved.has(ino)
  const see = (view: View): View => {
    // Each attempt begins with this.
    moved.clear()
    return scopedView(view, grant)
  }
  const require = (view: View, op: Op): void => {
    requireOperation(view, grant, op, { isOwn: isOwnNow })
    const replacing = inoReplacing(view, grant, op, isOwnNow)
    if (replacing === undefined) return
    if (isOwn(replacing)) throw new NotNoted(replacing)
    moved.add(replacing)
  }
  if (!budget) return change({ see, require, count: countNothing, charge: () => undefined })
  return budget.spend(async (left, adds) => {
    let added: Usage = noUsage
    const count = function* (changes: Changes, below: View): Steps<void> {
      added = yield* growthOf(changes, below)
      requireLeft(added, left)
      adds(added)
    }
    return change({ see, require, count, charge: () => budget.chargeOf(added) })
  })
}

function* countNothing(): Steps<void> {}
