import { isCairnError, isFsError, rowOf } from '@cairn/protocol'

/** Whether the same would be said next time. */
export function isFinal(error: unknown): boolean {
  return isFsError(error) || (isCairnError(error) && rowOf(error.code).retry === 'never')
}
