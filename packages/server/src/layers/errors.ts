import { CairnError } from '@cairn/protocol'

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
