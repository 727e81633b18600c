import {
  type Branch,
  type Charge,
  noUsage,
  type Receipt,
  type Steps,
  type Submission,
  type Usage,
} from '@cairn/core'
import { requireLeft } from '../access/budget.ts'
import type { LeaseHolder, SessionScope } from '../access/session-scope.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Room } from './room.ts'

interface Parts {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly scope: SessionScope
  readonly room: Room
  /** Set when the session holds the lease. */
  readonly holder: LeaseHolder | undefined
}

/** Refuses by throwing. Told what a batch adds, where it will stand. */
type Count = (added: Usage) => void | Promise<void>

/** Each operation is asked about where it will stand in the log; what is added is charged to the token's budget. */
export async function writeScoped(parts: Parts, submission: Submission): Promise<Receipt> {
  const { budget } = parts.scope
  if (!budget) return submit(parts, submission, () => {})
  if (parts.holder) return writeAsHolder(parts, submission)
  return budget.spend(async (left, adds) => {
    let added = noUsage
    const charge = (): Charge | undefined => budget.chargeOf(added)
    return submit(parts, { ...submission, charge }, (now) => {
      requireLeft(now, left)
      adds(now)
      added = now
    })
  })
}

/**
 * A holder is held to the room it was told of. It never waits for others under the same token: one of them may wait
 * for this very lease.
 */
async function writeAsHolder({ room, ...parts }: Parts, submission: Submission): Promise<Receipt> {
  await room.ready()
  let taken = noUsage
  try {
    const charge = (): Charge | undefined => parts.scope.budget!.chargeOf(taken)
    const count = async (added: Usage): Promise<void> => {
      room.giveBack(taken)
      taken = noUsage
      room.take(added)
      taken = added
      await parts.scope.budget!.requireCovered(added)
    }
    const receipt = await submit({ room, ...parts }, { ...submission, charge }, count)
    room.noteCharged(taken)
    return receipt
  } catch (error) {
    room.giveBack(taken)
    throw error
  }
}

function submit(
  { workspace, branch, scope, holder }: Parts,
  submission: Submission,
  count: Count,
): Promise<Receipt> {
  const { nodes } = workspace.stores
  return branch.submit({
    ...submission,
    check: async (view) => {
      await scope.requireStored(submission.ops)
      await submission.check?.(view)
      const read = <T>(work: () => Steps<T>): Promise<T> => nodes.readSteps(work)
      await count(await scope.requireAll(view, submission.ops, read, { holder }))
    },
  })
}
