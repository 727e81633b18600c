import { joinNames, type PathChange } from '@cairn/core'
import {
  type AccessOperation,
  allowsAll,
  type ByteString,
  CairnError,
  type Grant,
} from '@cairn/protocol'

/** Refuses a merged change of which a grant does not allow every part, by the paths before and after it. */
export function requireChanges(grant: Grant, changes: readonly PathChange[]): void {
  for (const { kind, path, from } of changes) {
    const place = joinNames(path)
    if (kind === 'deleted') require(grant, 'delete', place)
    else require(grant, 'write', place)
    if (from === undefined) continue
    for (const operation of ['read', 'write', 'delete'] as const)
      require(grant, operation, joinNames(from))
  }
}

function require(grant: Grant, operation: AccessOperation, path: ByteString): void {
  // Not the path in the message: it may be one that the token must not know.
  if (!allowsAll(grant, operation, path))
    throw new CairnError('forbidden', {
      what: 'merge',
      reason: `the token does not allow to ${operation} everything that would change`,
    })
}
