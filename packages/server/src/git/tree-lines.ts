import { createHash } from 'node:crypto'
import {
  type Extent,
  joinNames,
  scopedView,
  type Snapshot,
  type Stores,
  TreeView,
  type View,
} from '@cairn/core'
import { allows, type ByteString, type Grant, type Ino, type Name, rootIno } from '@cairn/protocol'
import { planRead } from '../files/send.ts'
import { walkFrom } from '../files/walk.ts'

/** A tree as the holder of a grant sees it; whole without one. */
export interface ShownTree {
  readonly snapshot: Snapshot
  readonly grant: Grant | undefined
}

/** One path that git can hold. */
export interface TreeLine {
  /** Below the root, without a slash before it. */
  readonly path: ByteString
  readonly mode: string
  /** Names the content: equal keys mean equal bytes. */
  readonly key: string
  readonly content: Uint8Array | readonly Extent[]
  readonly size: number
}

const readAtOnce = 100
const fileBytesMax = 4 * 2 ** 30
/** A larger file that is mostly holes is left out. */
const sparseBytesMax = 1 << 20

/** In the order of a walk. What git cannot hold is left out. */
export async function* treeLines(
  { nodes }: Stores,
  { snapshot, grant }: ShownTree,
): AsyncGenerator<TreeLine> {
  for (let after: readonly Name[] = []; ;) {
    const met = await nodes.read(() => {
      const whole = new TreeView(nodes, snapshot)
      const view = grant ? scopedView(whole, grant) : whole
      return walkFrom(view, rootIno, after, readAtOnce).map(({ ino, path }) => ({
        path,
        line: isReadable(grant, path) ? lineOf(view, ino, path) : undefined,
      }))
    })
    for (const { line } of met) if (line) yield line
    if (met.length < readAtOnce) return
    after = met.at(-1)!.path
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
  }
}

/** Equal for trees that git would hold alike. */
export async function treeKey(stores: Stores, tree: ShownTree): Promise<string> {
  const hash = createHash('sha256')
  for await (const { mode, key, path } of treeLines(stores, tree))
    hash.update(`${mode} ${key} `).update(Buffer.from(`${path}\0`, 'latin1'))
  return hash.digest('hex')
}

function isReadable(grant: Grant | undefined, path: readonly Name[]): boolean {
  return !grant || allows(grant, 'read', joinNames(path))
}

function lineOf(view: View, ino: Ino, names: readonly Name[]): TreeLine | undefined {
  const inode = view.inode(ino)!
  const { kind, size, target } = inode
  // Git refuses such names: they would be a repository inside of a tree.
  if (names.some((name) => name.toLowerCase() === '.git')) return undefined
  const path = names.join('/')
  if (kind === 'symlink')
    return { path, mode: '120000', key: keyOf([target!]), content: target!, size: target!.length }
  if (kind !== 'file') return undefined
  const extents = planRead(view, ino, inode, 0, size)
  if (!isForGit(size, extents)) return undefined
  const mode = (inode.mode & 0o100) === 0 ? '100644' : '100755'
  return { path, mode, key: keyOfExtents(size, extents), content: extents, size }
}

/** Git writes every zero of a hole: one byte behind 16 TiB would take days, and each export would begin again. */
function isForGit(size: number, extents: readonly Extent[]): boolean {
  const isReal = ({ source }: Extent): boolean => source !== undefined
  const bytes = extents.filter(isReal).reduce((sum, { length }) => sum + length, 0)
  return size <= sparseBytesMax || (size <= fileBytesMax && 2 * bytes >= size)
}

/** Equal keys mean equal bytes: blobs are named by hashes of their content. */
function keyOfExtents(size: number, extents: readonly Extent[]): string {
  const parts: (string | Uint8Array)[] = [`${size}`]
  for (const { offset, length, source } of extents) {
    parts.push(`|${offset},${length},`)
    if (source === undefined) continue
    if (source.type === 'bytes') parts.push(source.bytes)
    else parts.push(`${source.start},`, Buffer.from(source.id, 'latin1'))
  }
  return keyOf(parts)
}

function keyOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}
