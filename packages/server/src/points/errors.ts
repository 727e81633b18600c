import { LayerConflictError } from '@cairn/core'
import { type BranchId, CairnError, formatHash, type RefusedMerge } from '@cairn/protocol'

export function ambiguousReference(
  kind: string,
  reference: string,
  candidates: readonly string[],
): CairnError {
  return new CairnError('reference_ambiguous', {
    what: `find the ${kind} '${reference}'`,
    reason: `several ${kind}s match: ${candidates.join(', ')}`,
    subject: reference,
    candidates,
  })
}

export function layerMissing(reference: string): CairnError {
  return new CairnError('branch_missing', {
    what: `find layer '${reference}'`,
    reason: `no layer has the id, name or tag '${reference}', or a checkpoint of that name`,
    subject: reference,
  })
}

export function checkpointMissing(reference: string, layer: string): CairnError {
  return new CairnError('checkpoint_missing', {
    what: `find checkpoint '${reference}'`,
    reason: `${layer} has no checkpoint with the id or label '${reference}'`,
    subject: reference,
  })
}

/** `layer_conflict`, with who asked for the merge, and when. */
export class RefusedMergeError extends LayerConflictError {
  override readonly refused: RefusedMerge

  constructor({ subject, found, sides }: LayerConflictError, actor: string, time: string) {
    super(subject as BranchId, found, sides)
    const rootOf = (side: keyof typeof sides): string => formatHash(sides[side].root)
    const roots = { base: rootOf('base'), layer: rootOf('layer'), target: rootOf('target') }
    this.refused = { ...roots, actor, time }
  }
}

export function nameTaken(name: string): CairnError {
  return new CairnError('branch_exists', {
    what: `call a layer '${name}'`,
    reason: `the name '${name}' is taken`,
    subject: name,
  })
}
