import { isCairnError, isFsError } from '@cairn/protocol'

/** As the other end is told it. */
export function failureOf(error: unknown): { code: string; message: string } {
  if (isFsError(error) || isCairnError(error)) return { code: error.code, message: error.message }
  return { code: 'internal', message: 'something unforeseen happened' }
}
