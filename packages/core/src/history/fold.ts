import { type ByteString, type Hash, type Ino, toByteString } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { Blobs, SealedBlob } from '../content/blobs.ts'
import { emptyContent, hasFurtherBlocks } from '../content/content.ts'
import { foldContent, type FoldedBlocks, planBlocks } from '../content/fold-content.ts'
import { InFlight } from '../content/in-flight.ts'
import type { Changes } from '../filesystem/changes.ts'
import type { Inode, Link } from '../filesystem/inode.ts'
import { blockKey, dentryKey, inodeKey, linkKey } from '../filesystem/keys.ts'
import { TreeView } from '../filesystem/tree-view.ts'
import type { Snapshot } from '../ports/records.ts'
import { encodeBlock, encodeDentry, encodeInode, weighEntry } from '../filesystem/values.ts'
import { applyEdits, type Edit } from '../tree/apply.ts'
import type { Nodes } from '../tree/nodes.ts'
import { sortInSteps } from '../tree/sort-in-steps.ts'

export interface Folded {
  readonly snapshot: Snapshot
  /** The changed files. */
  readonly files: ReadonlyMap<Ino, FoldedInode>
}

/** An inode as the fold before had it, and as this one will. */
interface FoldedInode {
  readonly before: Inode | undefined
  /** A file's content is all blocks. */
  readonly after: Inode | undefined
}

/** How many files are sealed at once: enough to keep workers busy, few enough to bound memory. */
const filesAtOnce = 64
/** How many groups of them are on their way to the store: one at a time would be slower than those who write. */
const storesAtOnce = 8

/**
 * Turns changes on top of a snapshot into a new snapshot. When it resolves, every node and blob of the new
 * snapshot is stored: the root may be written down anywhere.
 */
export async function fold(
  nodes: Nodes,
  blobs: Blobs,
  base: Snapshot,
  changes: Changes,
): Promise<Folded> {
  const view = new TreeView(nodes, base)
  const edits = new SnapshotEdits()
  const files = await foldFiles(nodes, blobs, view, changes, edits)
  await nodes.readEach(changes.inodes, ([ino, after]) =>
    editInode(edits, view, ino, files.get(ino) ?? { before: view.inode(ino), after }),
  )
  for (const [parent, names] of changes.children)
    await nodes.readEach(names, ([name, dentry]) =>
      edits.root(dentryKey(parent, name), dentry && encodeDentry(dentry)),
    )
  await nodes.readEach(changes.linkSets, ([ino, links]) =>
    editLinks(edits, ino, view.links(ino), links),
  )
  return { snapshot: await edits.apply(nodes, base), files }
}

async function foldFiles(
  nodes: Nodes,
  blobs: Blobs,
  view: TreeView,
  changes: Changes,
  edits: SnapshotEdits,
): Promise<ReadonlyMap<Ino, FoldedInode>> {
  const files = new Map<Ino, FoldedInode>()
  const storing = new InFlight(storesAtOnce)
  for (const group of changedFiles(changes)) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const sealed: SealedBlob[] = []
    await Promise.all(
      group.map(async ({ ino, inode }) => {
        const folded = await foldFile(nodes, blobs, view, ino, inode, edits)
        sealed.push(...folded.sealed)
        files.set(ino, folded.inode)
      }),
    )
    await storing.add(blobs.store(sealed))
  }
  await storing.drain()
  return files
}

/**
 * In groups. Whether the content changed is known only beside the folded file: cut to a shorter one, it looks folded.
 */
function* changedFiles(changes: Changes): Generator<readonly { ino: Ino; inode: Inode }[]> {
  let group: { ino: Ino; inode: Inode }[] = []
  for (const [ino, inode] of changes.inodes) {
    if (!inode?.content) continue
    group.push({ ino, inode })
    if (group.length < filesAtOnce) continue
    yield group
    group = []
  }
  yield group
}

async function foldFile(
  nodes: Nodes,
  blobs: Blobs,
  view: TreeView,
  ino: Ino,
  inode: Inode,
  edits: SnapshotEdits,
): Promise<{ inode: FoldedInode; sealed: readonly SealedBlob[] }> {
  const { before, blocks, plan } = await nodes.read(() => {
    const before = view.inode(ino)
    const blocks = foldedBlocks(view, ino, before)
    return { before, blocks, plan: planBlocks(inode.content!, inode.size, blocks) }
  })
  const folded = await foldContent(inode.size, blocks, plan, blobs)
  for (const [index, block] of folded.blocks) edits.block(inode, ino, index, block)
  const after = { ...inode, content: folded.content }
  return { inode: { before, after }, sealed: folded.sealed }
}

function foldedBlocks(view: TreeView, ino: Ino, inode: Inode | undefined): FoldedBlocks {
  const { first, allocated } = inode?.content ?? emptyContent
  const further = hasFurtherBlocks({ first, allocated })
  return {
    size: inode?.size ?? 0,
    first,
    allocated,
    blockFrom: (index) => (further ? view.blockFrom(ino, index) : undefined),
    indexesFrom: (index) => (further ? view.blocks(ino, index).keys() : []),
  }
}

function editInode(
  edits: SnapshotEdits,
  view: TreeView,
  ino: Ino,
  { before, after: inode }: FoldedInode,
): void {
  const value = inode && encodeInode(inode)
  const named = inode !== undefined && inode.nlink > 0
  edits.root(inodeKey(ino), named ? value : undefined)
  if (!named || before?.nlink === 0) edits.orphan(inodeKey(ino), named ? undefined : value)
  const leavesTree = before && (!inode || before.nlink > 0 !== named)
  if (!leavesTree || !before.content || !hasFurtherBlocks(before.content)) return
  // The blocks follow their inode into the tree of orphans, or go with it.
  for (const [index, block] of view.blocks(ino, 1)) edits.moveBlock(ino, index, block, inode)
}

function editLinks(
  edits: SnapshotEdits,
  ino: Ino,
  before: readonly Link[],
  after: readonly Link[],
): void {
  for (const link of before) edits.root(linkKey(ino, link), undefined)
  for (const link of after) edits.root(linkKey(ino, link), new Uint8Array())
}

/** Edits by key. The last word on a key counts. */
type Edits = Map<ByteString, Edit>

/** Collects edits of the two trees of a snapshot. */
class SnapshotEdits {
  readonly #root: Edits = new Map()
  readonly #orphans: Edits = new Map()

  root(key: Uint8Array, value: Uint8Array | undefined): void {
    this.#root.set(toByteString(key), { key, value })
  }

  orphan(key: Uint8Array, value: Uint8Array | undefined): void {
    this.#orphans.set(toByteString(key), { key, value })
  }

  block(inode: Inode, ino: Ino, index: number, block: BlockRef | undefined): void {
    const key = blockKey(ino, index)
    const value = block && encodeBlock(block)
    if (inode.nlink > 0) this.root(key, value)
    else this.orphan(key, value)
  }

  /** Does not undo what `block` said before it. */
  moveBlock(ino: Ino, index: number, block: BlockRef, inode: Inode | undefined): void {
    const key = blockKey(ino, index)
    this.root(key, undefined)
    if (!this.#orphans.has(toByteString(key))) this.orphan(key, inode && encodeBlock(block))
  }

  async apply(nodes: Nodes, base: Snapshot): Promise<Snapshot> {
    return {
      root: await applyTo(nodes, base.root, this.#root),
      orphans: await applyTo(nodes, base.orphans, this.#orphans),
    }
  }
}

async function applyTo(nodes: Nodes, root: Hash, edits: Edits): Promise<Hash> {
  // Sorting by byte strings compares natively, four times faster than byte by byte.
  const sorted = await nodes.run(sortInSteps([...edits], ([a], [b]) => (a < b ? -1 : 1)))
  const applied = await applyEdits(
    nodes,
    root,
    sorted.map(([, edit]) => edit),
    weighEntry,
  )
  await nodes.store(applied.created)
  return applied.root
}
