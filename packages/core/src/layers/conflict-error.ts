import { type BranchId, CairnError, formatPath } from '@cairn/protocol'
import type { Conflict } from './conflict.ts'

/** `layer_conflict`, with every conflict in it. */
export class LayerConflictError extends CairnError {
  readonly conflicts: readonly Conflict[]

  constructor(layer: BranchId, conflicts: readonly Conflict[]) {
    const list = conflicts.map(({ path, kind }) => `${formatPath(path)} (${kind})`).join(', ')
    super('layer_conflict', {
      message: `cannot merge layer ${layer}: ${conflicts.length} conflicts: ${list}`,
      subject: layer,
    })
    this.conflicts = conflicts
  }
}
