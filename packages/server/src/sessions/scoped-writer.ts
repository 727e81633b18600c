import {
  type Branch,
  type Charge,
  noUsage,
  type Receipt,
  type Steps,
  type Submission,
  type Usage,
} from '@cairn/core'
import type { Budget } from '../access/budget.ts'
import type { BudgetShare } from '../access/budget-share.ts'
import type { LeaseHolder, SessionScope } from '../access/session-scope.ts'
import { isOverBudget, requireLeft } from '../leases/over-budget.ts'
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
  if (parts.holder) return writeAsHolder(parts, budget, submission)
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
 * What a holder acknowledged is within its share, and never waits for others under the same token: one of them may wait
 * for this very lease. What it asks the server about may need more.
 */
async function writeAsHolder(
  parts: Parts,
  budget: Budget,
  submission: Submission,
): Promise<Receipt> {
  const share = parts.room.share!
  let added = noUsage
  const write = (): Promise<Receipt> =>
    writeFromShare(parts, { budget, share, adds: (now) => (added = now) }, submission)
  try {
    return await write()
  } catch (error) {
    if (!isOverBudget(error) || budget.covers(share, added)) throw error
    return budget.spendShare(share, write)
  }
}

interface FromShare {
  readonly budget: Budget
  readonly share: BudgetShare
  readonly adds: (added: Usage) => void
}

async function writeFromShare(
  parts: Parts,
  { budget, share, adds }: FromShare,
  submission: Submission,
): Promise<Receipt> {
  let taken = noUsage
  try {
    const charge = (): Charge | undefined => budget.chargeOf(taken)
    const count = async (added: Usage): Promise<void> => {
      share.drop(taken)
      taken = noUsage
      adds(added)
      budget.takeFrom(share, added)
      taken = added
      await budget.requireCovered(added)
    }
    const receipt = await submit(parts, { ...submission, charge }, count)
    share.noteCharged(taken)
    return receipt
  } catch (error) {
    share.drop(taken)
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
