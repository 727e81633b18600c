import {
  type Kind,
  mapPaced,
  type Nodes,
  type PathChange,
  resolvePath,
  type Snapshot,
  sortInSteps,
  TreeView,
  superuser,
} from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { walkFrom } from '../files/walk.ts'

type Path = readonly Name[]

const entriesAtOnce = 1000

/**
 * A renamed directory is one change, and nothing below it is. A format that knows files only, such
 * as a patch, needs the old path of each of them.
 */
export class RenamedDirectories {
  /** By where they are now. */
  readonly #from = new Map<string, Path>()

  constructor(changes: readonly PathChange[]) {
    for (const { fileKind, path, from } of changes)
      if (fileKind === 'directory' && from) this.#from.set(path.join('/'), from)
  }

  /** Where something was that was there before, by where it is. */
  formerPath(path: Path): Path {
    for (let length = path.length - 1; length > 0; length--) {
      const from = this.#from.get(path.slice(0, length).join('/'))
      if (from) return [...from, ...path.slice(length)]
    }
    return path
  }

  /** The changes with every file that moved with a directory above it, in order of paths. */
  async withFilesBelow(
    nodes: Nodes,
    after: Snapshot,
    changes: readonly PathChange[],
  ): Promise<readonly PathChange[]> {
    const all = await mapPaced(nodes.pacer, changes, (change) => this.#withFormer(change))
    const known = new Set(await mapPaced(nodes.pacer, changes, ({ path }) => path.join('/')))
    for (const top of this.#from.keys())
      for await (const { path, fileKind } of filesBelow(nodes, after, top)) {
        if (known.has(path.join('/'))) continue
        known.add(path.join('/'))
        all.push({ kind: 'renamed', path, from: this.formerPath(path), fileKind })
      }
    return nodes.run(sortInSteps(all, (a, b) => (a.path.join('/') < b.path.join('/') ? -1 : 1)))
  }

  #withFormer(change: PathChange): PathChange {
    const { kind, path, fileKind } = change
    if (fileKind === 'directory' || (kind !== 'modified' && kind !== 'mode')) return change
    const from = this.formerPath(path)
    return from === path ? change : { ...change, kind: 'renamed', from, edited: true }
  }
}

async function* filesBelow(
  nodes: Nodes,
  snapshot: Snapshot,
  top: string,
): AsyncGenerator<Pick<PathChange, 'path' | 'fileKind'>> {
  const view = new TreeView(nodes, snapshot)
  const find = (): Ino =>
    resolvePath(view, `/${top}`, { who: superuser, follow: false }).dentry!.ino
  const root = await nodes.read(find)
  for (let last: Path = []; ;) {
    const walk = (): readonly { path: Path; fileKind: Kind }[] =>
      walkFrom(view, root, last, entriesAtOnce).map(({ ino, path }) => ({
        path,
        fileKind: view.inode(ino)!.kind,
      }))
    const met = await nodes.read(walk)
    for (const { path, fileKind } of met)
      if (fileKind !== 'directory')
        yield { path: [...(top.split('/') as Name[]), ...path], fileKind }
    if (met.length < entriesAtOnce) return
    last = met.at(-1)!.path
  }
}
