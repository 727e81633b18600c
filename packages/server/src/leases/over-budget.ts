import type { Usage } from '@cairn/core'
import { CairnError } from '@cairn/protocol'

/** A change adds more than its token may. */
class OverBudget extends CairnError {
  constructor(what: keyof Usage, added: number, left: number) {
    super('quota_exceeded', {
      what: 'write',
      reason: `it would add ${added} ${what}, the token may add ${Math.max(0, left)} more`,
    })
  }
}

export function isOverBudget(error: unknown): boolean {
  return error instanceof OverBudget
}

/** What is taken away is not given back to a budget. */
export function growthIn({ bytes, files }: Usage): Usage {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
}

/** Refuses what adds more than is left. */
export function requireLeft(added: Usage, left: Usage): void {
  for (const what of ['bytes', 'files'] as const)
    if (added[what] > 0 && added[what] > left[what])
      throw new OverBudget(what, added[what], left[what])
}
