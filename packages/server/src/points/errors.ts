import { LayerConflictError } from '@cairn/core'
import { type BranchId, CairnError, formatHash, type RefusedMerge } from '@cairn/protocol'

/** `reference_ambiguous`, with everything that may have been meant. */
export class AmbiguousReferenceError extends CairnError {
  readonly candidates: readonly string[]

  constructor(what: string, reference: string, candidates: readonly string[]) {
    super('reference_ambiguous', {
      message: `cannot find the ${what} '${reference}': ${candidates.join(', ')} are called so`,
      subject: reference,
    })
    this.candidates = candidates
  }
}

export function layerMissing(reference: string): CairnError {
  return new CairnError('branch_missing', {
    message: `cannot find layer '${reference}': none has this id, name, tag or checkpoint`,
    subject: reference,
  })
}

export function checkpointMissing(reference: string, layer: string): CairnError {
  return new CairnError('checkpoint_missing', {
    message: `cannot find checkpoint '${reference}' of ${layer}`,
    subject: reference,
  })
}

/** `layer_conflict`, with who asked for the merge, and when. */
export class RefusedMergeError extends LayerConflictError {
  readonly refused: RefusedMerge

  constructor({ subject, conflicts, sides }: LayerConflictError, actor: string, time: string) {
    super(subject as BranchId, conflicts, sides)
    const rootOf = (side: keyof typeof sides): string => formatHash(sides[side].root)
    const roots = { base: rootOf('base'), layer: rootOf('layer'), target: rootOf('target') }
    this.refused = { ...roots, actor, time }
  }
}

export function nameTaken(name: string): CairnError {
  return new CairnError('branch_exists', {
    message: `cannot call a layer '${name}': the name is taken`,
    subject: name,
  })
}
