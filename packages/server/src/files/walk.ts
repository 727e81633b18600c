import { type Dentry, EntryPages, type View } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'

/** What a walk meets: where it is below the directory it began in. */
export interface Walked {
  readonly ino: Ino
  readonly path: readonly Name[]
}

interface Level {
  readonly path: readonly Name[]
  readonly entries: EntryPages
}

/**
 * Up to `limit` of what is below a directory, depth first, parents before children, from after `after`. A path is a
 * position that stays: what is gone meanwhile is passed over, what is new behind it is met.
 */
export function walkFrom(
  view: View,
  root: Ino,
  after: readonly Name[],
  limit: number,
): readonly Walked[] {
  const levels = levelsTo(view, root, after)
  const met: Walked[] = []
  while (met.length < limit) {
    const level = levels.at(-1)
    if (!level) break
    const entry = level.entries.next()
    if (!entry) {
      levels.pop()
      continue
    }
    const { name, ino, kind } = entry
    const path = [...level.path, name]
    met.push({ ino, path })
    if (kind === 'directory') levels.push({ path, entries: new EntryPages(view, ino) })
  }
  return met
}

/** One level for each directory on the way to `after` that is still there; the innermost goes on first. */
function levelsTo(view: View, root: Ino, after: readonly Name[]): Level[] {
  const levels: Level[] = []
  let directory: Ino | undefined = root
  for (let depth = 0; directory !== undefined; depth++) {
    const name: Name | undefined = after[depth]
    levels.push({ path: after.slice(0, depth), entries: new EntryPages(view, directory, name) })
    const child: Dentry | undefined = name === undefined ? undefined : view.child(directory, name)
    directory = child?.kind === 'directory' ? child.ino : undefined
  }
  return levels
}
