import {
  type Dentry,
  EntryPages,
  joinNames,
  pathOf,
  requireAllowed,
  resolvePath,
  superuser,
  type View,
} from '@cairn/core'
import {
  type ByteString,
  CairnError,
  FsError,
  type Grant,
  type Ino,
  isName,
  isWay,
  type Name,
} from '@cairn/protocol'

/** A directory in which a walk begins. */
export interface WalkTop {
  readonly ino: Ino
  readonly names: readonly Name[]
}

/** One that the holder of the grant may list. What only leads to visible paths lists those paths. */
export function findDirectory(view: View, path: ByteString, grant: Grant | undefined): WalkTop {
  const { dentry } = resolvePath(view, path, { who: superuser, follow: true })
  if (!dentry) throw new FsError('ENOENT')
  if (dentry.kind !== 'directory') throw new FsError('ENOTDIR')
  const names = pathOf(view, dentry.ino)!
  const found = joinNames(names)
  if (grant && !isWay(grant, found)) requireAllowed(grant, 'list', found)
  return { ino: dentry.ino, names }
}

/** Where a walk stands: the path of the last entry that was given, below the directory. */
export function writeWalkCursor(path: readonly Name[]): string {
  return Buffer.from(path.join('/'), 'latin1').toString('base64url')
}

export function readWalkCursor(cursor: string, recursive: boolean): readonly Name[] {
  const names = Buffer.from(cursor, 'base64url').toString('latin1').split('/')
  if (names.every(isName) && (recursive || names.length === 1)) return names
  throw new CairnError('invalid_argument', {
    what: 'go on with the listing',
    reason: 'its cursor is none that such a listing gave',
  })
}

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
