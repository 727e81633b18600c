import type { PathChange } from '@cairn/core'
import { formatPath, type LayerOverlap } from '@cairn/protocol'
import { shownName } from '../ports/layer-store.ts'

/** Whose change it is. */
export interface Other {
  /** `main` or a layer's id. */
  readonly id: string
  readonly name: string | undefined
  /** Where it may write. */
  readonly path: string
  readonly isParent: boolean
}

/** What the caller may learn about others. */
export interface Sight {
  /** A change as it can be seen; none where it cannot. */
  see(change: PathChange): readonly PathChange[]
  knows(other: Other): boolean
}

/** The paths that a layer has changed, to compare another layer's changes with. */
export class Footprint {
  readonly #paths = new Set<string>()
  /** Directories that something changed in, at any depth. */
  readonly #above = new Set<string>()
  /** What was moved, taken away or replaced, and with it all that was below. */
  readonly #moved = new Set<string>()

  constructor(changes: readonly PathChange[]) {
    for (const change of changes)
      for (const path of pathsOf(change)) {
        this.#paths.add(path)
        for (const directory of directoriesAbove(path)) this.#above.add(directory)
        if (isMove(change)) this.#moved.add(path)
      }
  }

  /** At the same path; or the one moved or took away a directory in which the other changed something. */
  meets(change: PathChange): boolean {
    return pathsOf(change).some(
      (path) =>
        this.#paths.has(path) ||
        (isMove(change) && this.#above.has(path)) ||
        directoriesAbove(path).some((directory) => this.#moved.has(directory)),
    )
  }
}

/** A directory that only changed with its entries is not worth a warning. */
function pathsOf({ path, from, kind, fileKind }: PathChange): string[] {
  if (fileKind === 'directory' && kind === 'mode') return []
  return [path.join('/'), ...(from ? [from.join('/')] : [])]
}

function isMove({ kind }: PathChange): boolean {
  return kind === 'renamed' || kind === 'deleted' || kind === 'type'
}

function directoriesAbove(path: string): string[] {
  const directories: string[] = []
  for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1))
    directories.push(path.slice(0, end))
  return directories
}

/**
 * Everyone who sees a layer sees the name of its parent; a sibling may be unknown to the caller.
 */
export function describeOverlap(
  other: Other,
  change: PathChange,
  sight: Sight | undefined,
): LayerOverlap[] {
  const { id, name, isParent } = other
  const isKnown = !sight || sight.knows(other)
  return (sight ? sight.see(change) : [change]).map(({ path, from, kind }) => ({
    path: formatPath(path),
    ...(from ? { from: formatPath(from) } : {}),
    ...(isKnown || isParent ? { with: id } : {}),
    ...(isKnown && name !== undefined ? { name: shownName(name) } : {}),
    kind,
  }))
}
