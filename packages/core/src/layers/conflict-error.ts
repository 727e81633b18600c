import { type BranchId, CairnError, formatPath } from '@cairn/protocol'
import type { Conflict } from './conflict.ts'
import type { MergeInput } from './touched.ts'

/** `layer_conflict`, with every conflict in it. */
export class LayerConflictError extends CairnError {
  readonly conflicts: readonly Conflict[]
  /** What would have been merged. */
  readonly sides: MergeInput

  constructor(layer: BranchId, conflicts: readonly Conflict[], sides: MergeInput) {
    const list = conflicts.map(({ path, kind }) => `${formatPath(path)} (${kind})`).join(', ')
    super('layer_conflict', {
      message: `cannot merge layer ${layer}: ${conflicts.length} conflicts: ${list}`,
      subject: layer,
    })
    this.conflicts = conflicts
    this.sides = sides
  }
}
