import { CairnError, type FailureFields, isCairnError, toFailure } from '@cairn/protocol'

/** An error of a process of the mount, for another one of the same user. */
export function mountFailure(error: unknown): FailureFields {
  if (isCairnError(error)) return toFailure(error)
  const reason = error instanceof Error ? error.message : String(error)
  return toFailure(new CairnError('mount_failed', { what: 'go on with the mount', reason }))
}
