import type { ActorId } from '@cairn/protocol'
import { Branch } from '../history/branch.ts'
import type { Author } from '../history/draft.ts'
import type { BranchState, Position } from '../ports/records.ts'
import type { NextBase } from '../ports/ref-store.ts'
import { placeSession } from '../history/session-ids.ts'
import type { Stores } from '../history/stores.ts'

/** A batch was noted for a place in a log, and that place is still free: whether the batch comes is not known. */
export class UnknownPlaceError extends Error {
  readonly next: NextBase

  constructor(next: NextBase) {
    super(`batch ${next.seq} of branch ${next.branch} is under way`)
    this.next = next
  }
}

/**
 * Repeats `work` until every batch that it has to know of is in its log or cannot come any more. Such a wait must not
 * happen where a batch is decided: two that wait there for each other's logs would wait for ever.
 */
export async function onceKnown<T>(
  stores: Stores,
  branches: readonly Branch[],
  author: Pick<Author, 'time'>,
  work: () => Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UnknownPlaceError)) throw error
      await takePlace(stores, branches, author, error.next)
    }
  }
}

/** Takes the place with a batch that changes nothing, unless one is there by then. */
async function takePlace(
  stores: Stores,
  branches: readonly Branch[],
  { time }: Pick<Author, 'time'>,
  { branch: id, seq }: NextBase,
): Promise<void> {
  const branch = branches.find((each) => each.id === id) ?? (await Branch.open(stores, id))
  await branch.refresh()
  if (branch.head.position.seq >= seq) return
  const author = {
    actor: 'server' as ActorId,
    session: placeSession(id),
    number: seq,
    time,
  }
  const keepState = ({ state }: Position): BranchState => state
  await branch.changeState(author, keepState)
}
