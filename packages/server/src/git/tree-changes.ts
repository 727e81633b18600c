import { type ByteString, CairnError } from '@cairn/protocol'
import { loopPacer } from '../ports/pacer.ts'
import type { IncomingObjects } from './incoming-objects.ts'

/** What two trees of git have at a path. A mode of 000000 is nothing. */
export interface GitChange {
  readonly path: ByteString
  readonly oldMode: string
  readonly mode: string
  readonly oid: string
}

/** They are in memory until the push is in. A tree may name one tree ten times, and that one another: a few objects are millions of paths. */
const changesMax = 500_000
const lettersMax = 128 << 20

export async function diffTrees(
  objects: IncomingObjects,
  from: string,
  to: string,
): Promise<readonly GitChange[]> {
  const args = ['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to]
  const changes: GitChange[] = []
  let front: string | undefined
  let letters = 0
  for await (const fields of objects.fields(args)) {
    for (const field of fields) {
      letters += field.length
      if (front === undefined) {
        front = field
        continue
      }
      const [oldMode = '', mode = '', , oid = ''] = front.slice(1).split(' ')
      changes.push({ path: field, oldMode, mode, oid })
      front = undefined
    }
    if (changes.length > changesMax || letters > lettersMax) throw tooMany()
  }
  return changes
}

function tooMany(): CairnError {
  return new CairnError('too_large', {
    what: 'take the push in',
    reason: `it, or main since then, changes more than ${changesMax} paths`,
    hint: 'Push it in parts, or use cairn fs import.',
  })
}

/** What is to be done of `own` where `others` was done before, and the paths that both changed differently. */
export async function mergeChanges(
  own: readonly GitChange[],
  others: readonly GitChange[],
): Promise<{ readonly left: readonly GitChange[]; readonly conflicts: readonly ByteString[] }> {
  const done = new Map<ByteString, GitChange>()
  for (const change of others) {
    done.set(change.path, change)
    if (loopPacer.isDue()) await loopPacer.rest()
  }
  const left: GitChange[] = []
  const conflicts: ByteString[] = []
  for (const change of own) {
    const other = done.get(change.path)
    if (!other) left.push(change)
    else if (other.mode !== change.mode || other.oid !== change.oid) conflicts.push(change.path)
    if (loopPacer.isDue()) await loopPacer.rest()
  }
  return { left, conflicts }
}
