import { allowsAll, type ByteString, CairnError } from '@cairn/protocol'
import type { Scope } from '../access/access.ts'
import type { GitChange } from './tree-changes.ts'

/** The largest directory that a token may make a layer of, and that holds all changes. */
export function pathForLayer({ grant }: Scope, changes: readonly GitChange[]): ByteString {
  const names = commonDirectory(changes)
  for (let depth = 0; depth <= names.length; depth++) {
    const path = `/${names.slice(0, depth).join('/')}`
    if (allowsAll(grant, 'write', path)) return path
  }
  throw new CairnError('forbidden', {
    what: 'push',
    reason: 'the token must allow write for all of one directory that has the changes',
    hint: 'Ask the owner for such a token, or push to a layer that is there.',
  })
}

function commonDirectory(changes: readonly GitChange[]): readonly string[] {
  const [first, ...rest] = changes.map(({ path }) => path.split('/').slice(0, -1))
  let common = first ?? []
  for (const names of rest) {
    const end = common.findIndex((name, at) => names[at] !== name)
    if (end >= 0) common = common.slice(0, end)
  }
  return common
}
