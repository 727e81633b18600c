import type { Choice, Conflict, Resolution, Snapshot } from '@cairn/core'
import { mergePlayed, type Played } from './scenario.ts'

/** More than any case needs: each answer takes a name from something, and names are few. */
const roundsMax = 40

/**
 * Answers every question until none is left. Undefined when the answers given cannot be followed together, which
 * a mix of sides may bring about.
 */
export async function decideAll(
  played: Played,
  choose: (conflict: Conflict) => Choice,
): Promise<Snapshot | undefined> {
  const resolutions = new Map<string, Resolution>()
  for (let round = 0; round < roundsMax; round++) {
    const result = await mergePlayed(played, { resolutions: [...resolutions.values()] })
    if (result.type === 'merged') return result.snapshot
    const open = result.conflicts.filter(({ id }) => !resolutions.has(id))
    if (open.length === 0) return undefined
    for (const conflict of open)
      resolutions.set(conflict.id, { conflict: conflict.id, choice: choose(conflict) })
  }
  throw new Error(`still asking after ${roundsMax} rounds`)
}
