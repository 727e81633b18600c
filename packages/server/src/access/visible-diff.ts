import { joinNames, type PathChange } from '@cairn/core'
import { type AccessOperation, allows, type Grant, type Name } from '@cairn/protocol'

/** What of a change a token sees. What came from out of scope was added, what went there was deleted. */
export function seeChange(
  grant: Grant,
  operation: AccessOperation,
): (change: PathChange) => PathChange | undefined {
  const sees = (path: readonly Name[]): boolean => allows(grant, operation, joinNames(path))
  return (change) => {
    const { path, from, fileKind } = change
    if (from === undefined) return sees(path) ? change : undefined
    if (sees(path)) return sees(from) ? change : { kind: 'added', path, fileKind }
    return sees(from) ? { kind: 'deleted', path: from, fileKind } : undefined
  }
}
