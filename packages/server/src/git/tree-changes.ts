import type { ByteString } from '@cairn/protocol'
import type { IncomingObjects } from './incoming-objects.ts'

/** What two trees of git have at a path. A mode of 000000 is nothing. */
export interface GitChange {
  readonly path: ByteString
  readonly oldMode: string
  readonly mode: string
  readonly oid: string
}

export async function diffTrees(
  objects: IncomingObjects,
  from: string,
  to: string,
): Promise<readonly GitChange[]> {
  const output = await objects.ask(['diff-tree', '-r', '-z', '--no-renames', '--raw', from, to])
  const fields = output.toString('latin1').split('\0')
  const changes: GitChange[] = []
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [oldMode = '', mode = '', , oid = ''] = fields[at]!.slice(1).split(' ')
    changes.push({ path: fields[at + 1]!, oldMode, mode, oid })
  }
  return changes
}

/** What is to be done of `own` where `others` was done before, and the paths that both changed differently. */
export function mergeChanges(
  own: readonly GitChange[],
  others: readonly GitChange[],
): { readonly left: readonly GitChange[]; readonly conflicts: readonly ByteString[] } {
  const done = new Map(others.map((change) => [change.path, change]))
  const left = own.filter(({ path }) => !done.has(path))
  const conflicts = own.filter(({ path, mode, oid }) => {
    const other = done.get(path)
    return other && (other.mode !== mode || other.oid !== oid)
  })
  return { left, conflicts: conflicts.map(({ path }) => path) }
}
