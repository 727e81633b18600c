import { CairnError } from './errors.ts'

/** Where the late writes of a lost lease went. */
export interface RescueOutcome {
  /** `committed`: they are on the branch. `kept`: they are in the layer only, and a user must decide. */
  readonly result: 'committed' | 'kept'
  /** The layer's branch. */
  readonly layer: string
}

/** As the server answers a `rescue`: `RESULT LAYER`. */
export function formatRescueOutcome({ result, layer }: RescueOutcome): string {
  return `${result} ${layer}`
}

export function parseRescueOutcome(text: string): RescueOutcome {
  const [result, layer] = text.split(' ')
  if ((result === 'committed' || result === 'kept') && layer) return { result, layer }
  throw new CairnError('malformed', { what: 'read the outcome of a rescue', reason: `'${text}'` })
}
