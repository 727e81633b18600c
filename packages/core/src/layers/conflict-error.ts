import { type BranchId, CairnError, formatPath } from '@cairn/protocol'
import type { Conflict } from './conflict.ts'
import type { MergeInput } from './touched.ts'

/** `layer_conflict`, with every conflict in it. */
export class LayerConflictError extends CairnError {
  readonly found: readonly Conflict[]
  /** What would have been merged. */
  readonly sides: MergeInput

  constructor(
    layer: BranchId,
    found: readonly Conflict[],
    sides: MergeInput,
    { what = `merge layer ${layer}`, hint }: { what?: string; hint?: string } = {},
  ) {
    const list = found.map(({ path, kind }) => `${formatPath(path)} (${kind})`).join(', ')
    super('layer_conflict', {
      what,
      ...(hint === undefined ? {} : { hint }),
      reason: `${found.length === 1 ? '1 path is' : `${found.length} paths are`} in conflict: ${list}`,
      subject: layer,
    })
    this.found = found
    this.sides = sides
  }
}
