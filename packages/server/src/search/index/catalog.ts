import { changedInos, type Nodes, type Snapshot, TreeView } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { contentKey } from './content-key.ts'
import { keyBytes } from './segment.ts'

/** What each file of a tree holds. It never changes: a later tree has its own. */
export interface FileCatalog {
  readonly snapshot: Snapshot
  /** INVARIANT: ascending. Files that hold something. */
  readonly inos: Float64Array
  /** The key of each, one behind the other. Shared with the thread of the index, so that they need not be copied. */
  readonly keys: Uint8Array
}

export function emptyCatalog(nodes: Nodes): FileCatalog {
  const snapshot = { root: nodes.emptyRoot, orphans: nodes.emptyRoot }
  return { snapshot, inos: new Float64Array(), keys: sharedKeys(0) }
}

/** Where an inode is, or -1. */
export function placeIn({ inos }: FileCatalog, ino: Ino): number {
  const at = firstFrom(inos, ino)
  return inos[at] === ino ? at : -1
}

export function keyAt(keys: Uint8Array, at: number): Uint8Array {
  return keys.subarray(at * keyBytes, (at + 1) * keyBytes)
}

/** What differs between a catalog's tree and another one. */
export interface CatalogChange {
  /** INVARIANT: ascending. All inodes that differ, also directories and those that are gone. */
  readonly inos: Float64Array
  readonly keys: Uint8Array
  /** 1 for files that hold something in the other tree. */
  readonly isFile: Uint8Array
}

export async function changesSince(
  nodes: Nodes,
  before: Snapshot,
  after: Snapshot,
): Promise<CatalogChange> {
  const inos = Float64Array.from(await changedInos(nodes, before, after)).sort()
  const keys = sharedKeys(inos.length)
  const isFile = new Uint8Array(inos.length)
  const view = new TreeView(nodes, after)
  let at = 0
  await nodes.readEach(inos as Iterable<number> as Iterable<Ino>, (ino) => {
    const inode = view.inode(ino)
    if (inode?.kind === 'file' && inode.size > 0) {
      keys.set(contentKey(view, ino, inode), at * keyBytes)
      isFile[at] = 1
    }
    at++
  })
  return { inos, keys, isFile }
}

/** The catalog of the tree that the changes lead to. */
export function movedCatalog(
  catalog: FileCatalog,
  change: CatalogChange,
  snapshot: Snapshot,
): FileCatalog {
  const length = catalog.inos.length + change.inos.length
  const inos = new Float64Array(length)
  const keys = sharedKeys(length)
  let [end, from] = [0, 0]
  // What stays is copied in pieces as large as there are: a million files take some milliseconds.
  const copyUpTo = (to: number): void => {
    inos.set(catalog.inos.subarray(from, to), end)
    keys.set(catalog.keys.subarray(from * keyBytes, to * keyBytes), end * keyBytes)
    end += to - from
  }
  for (const [at, ino] of change.inos.entries()) {
    const place = from + firstFrom(catalog.inos.subarray(from), ino)
    copyUpTo(place)
    from = catalog.inos[place] === ino ? place + 1 : place
    if (change.isFile[at] === 0) continue
    inos[end] = ino
    keys.set(keyAt(change.keys, at), end * keyBytes)
    end++
  }
  copyUpTo(catalog.inos.length)
  return { snapshot, inos: inos.subarray(0, end), keys: keys.subarray(0, end * keyBytes) }
}

/** The index of the first that is not less. */
function firstFrom(inos: Float64Array, ino: number): number {
  let [low, high] = [0, inos.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if (inos[middle]! < ino) low = middle + 1
    else high = middle
  }
  return low
}

function sharedKeys(count: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(count * keyBytes))
}
