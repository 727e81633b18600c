import type { Steps } from '../tree/steps.ts'
import type { Changes } from './changes.ts'
import { requireLevel, requireLevelsBelow } from './depth.ts'
import { applyWithinFileSize } from './file-size.ts'
import type { Op } from './op.ts'

/**
 * Applies an operation that is not in a log yet, within the limits of today: EFBIG where a file would grow too large,
 * ENAMETOOLONG where a directory would stand too deep. Replay uses `applyOp`, because an operation that is in the log
 * must give the same result for ever.
 */
export function applyNewOp(changes: Changes, op: Op): void {
  applyWithinFileSize(changes, op)
  requireLevel(changes, op)
}

/** The same, and what only the server can ask. */
export function* takeNewOp(changes: Changes, op: Op): Steps<void> {
  applyNewOp(changes, op)
  yield* requireLevelsBelow(changes, op)
}
