import {
  type Extent,
  fetchBlobs,
  joinExtents,
  requireAllowed,
  requireOnInode,
  resolvePath,
  type Stores,
  type View,
  superuser,
} from '@cairn/core'
import {
  type ByteString,
  FsError,
  type Grant,
  type Ino,
  isWay,
  type Name,
  tarEnd,
  type TarEntry,
  tarHeader,
  tarPaddingBytes,
  toByteString,
} from '@cairn/protocol'
import { planRead, streamExtents } from '../files/send.ts'
import { walkFrom, type Walked } from '../files/walk.ts'
import { nanoseconds } from '../ports/clock.ts'

/** A tree that does not change, as its reader may see it. */
export interface FixedTree {
  readonly read: <T>(read: (view: View) => T) => Promise<T>
  readonly stores: Stores
  /** Set when the reader is a token. */
  readonly grant?: Grant | undefined
}

interface Planned {
  readonly entry: TarEntry
  readonly extents: readonly Extent[]
}

/** How many are read at one moment: about 1 ms. */
const readAtOnce = 100
/** So that what is held in memory stays below 2 MiB for each archive. */
const smallBytesMax = 16 << 10

/** The number of the directory at a path. */
export function findArchived({ read, grant }: FixedTree, path: ByteString): Promise<Ino> {
  return read((view) => {
    const { dentry } = resolvePath(view, path, { who: superuser, follow: true })
    if (!dentry) throw new FsError('ENOENT')
    if (dentry.kind !== 'directory') throw new FsError('ENOTDIR')
    if (grant && !isWay(grant, path)) requireAllowed(grant, 'list', path)
    return dentry.ino
  })
}

/** Everything below the directory, as a tar archive. Sockets, pipes and devices are left out. */
export async function* writeArchive(tree: FixedTree, root: Ino): AsyncGenerator<Uint8Array> {
  const { blobs, nodes } = tree.stores
  const linked = new Map<Ino, ByteString>()
  for (let after: readonly Name[] = []; ;) {
    const met = await tree.read((view) =>
      walkFrom(view, root, after, readAtOnce).map((one) => planOne(view, tree, one, linked)),
    )
    const entries = met.flatMap(({ planned }) => planned ?? [])
    // Small files are fetched together: one after the other, each would cost a round trip to the store.
    const small = entries.filter(isSmall).flatMap(({ extents }) => extents)
    const fetched = await fetchBlobs(small, blobs)
    for (const one of entries) {
      const { entry, extents } = one
      yield tarHeader(entry)
      if (!isSmall(one)) yield* streamExtents(extents, blobs)
      else if (entry.size > 0) yield joinExtents(extents, fetched)
      const padding = tarPaddingBytes(entry.size)
      if (padding > 0) yield new Uint8Array(padding)
    }
    if (met.length < readAtOnce) break
    after = met.at(-1)!.path
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
  }
  yield tarEnd
}

function isSmall({ entry }: Planned): boolean {
  return entry.size <= smallBytesMax
}

function planOne(
  view: View,
  { grant }: FixedTree,
  { ino, path }: Walked,
  linked: Map<Ino, ByteString>,
): { readonly path: readonly Name[]; readonly planned?: Planned } {
  const inode = view.inode(ino)!
  const { kind, mode } = inode
  if (kind !== 'file' && kind !== 'directory' && kind !== 'symlink') return { path }
  const name = path.join('/')
  const common = { path: name, kind, mode, size: 0, mtimeNs: nanoseconds(inode.mtime) }
  if (kind === 'symlink') {
    const entry = { ...common, target: toByteString(inode.target!) }
    return { path, planned: { entry, extents: [] } }
  }
  if (kind === 'directory') return { path, planned: { entry: common, extents: [] } }
  if (grant) requireOnInode(view, grant, 'read', ino)
  const first = linked.get(ino)
  if (first !== undefined && first !== name)
    return { path, planned: { entry: { ...common, kind: 'link', target: first }, extents: [] } }
  if (inode.nlink > 1) linked.set(ino, name)
  const { size } = inode
  const extents = planRead(view, ino, inode, 0, size)
  return { path, planned: { entry: { ...common, size }, extents } }
}
