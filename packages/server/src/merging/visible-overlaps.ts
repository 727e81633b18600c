import { joinNames, namesOf, type PathChange } from '@cairn/core'
import { allows, type Grant, isWithin } from '@cairn/protocol'
import type { Sight } from './overlaps.ts'
import { isShown } from '../layers/layer-names.ts'
import { seeChange } from '../access/visible-diff.ts'

/** What others did where a token may read. Who they are is told where their layer exists for it. */
export function overlapSight(grant: Grant): Sight {
  const see = seeChange(grant, 'read')
  return {
    see: (change) => {
      const seen = see(change)
      return seen ? [seen] : lostTo(grant, change)
    },
    knows: ({ id, path }) => isShown(grant, id, path),
  }
}

/** What was moved or taken away above all that the token may read: for the token that is gone. */
function lostTo(grant: Grant, { kind, path, from }: PathChange): PathChange[] {
  if (kind !== 'renamed' && kind !== 'deleted' && kind !== 'type') return []
  const old = joinNames(from ?? path)
  return grant.rules
    .map(({ prefix }) => prefix)
    .filter((prefix) => isWithin(prefix, old) && allows(grant, 'read', prefix))
    .map((prefix) => ({ kind: 'deleted', path: namesOf(prefix), fileKind: 'directory' }))
}
