import { equalBytes, type Hash } from '@cairn/protocol'
import { type BlockRef, blockLength } from '../content/block.ts'
import { parseKey } from '../filesystem/keys.ts'
import { totalsOf } from '../filesystem/totals.ts'
import type { Snapshot } from '../ports/records.ts'
import { decodeBlock, decodeInode } from '../filesystem/values.ts'
import { diff } from '../tree/diff.ts'
import type { Nodes } from '../tree/nodes.ts'

/** Whose the content of a tree is. Before compression; holes do not count. */
export interface OwnBytes {
  /** What would go if the tree went and its base stayed. Equal blocks count once. */
  readonly private: number
  /** What the base has as well. */
  readonly shared: number
}

/**
 * Found by comparing the trees, so it costs the size of the change. Content that the base has at a place which did
 * not change is not recognised: that would cost the size of the base.
 */
export async function ownBytesOf(nodes: Nodes, base: Snapshot, tree: Snapshot): Promise<OwnBytes> {
  const known = new Set<Hash>()
  const added: BlockRef[] = []
  for await (const { key, before, after } of diff(nodes, base.root, tree.root)) {
    const [was, is] = [blockOf(key, before), blockOf(key, after)]
    if (was?.type === 'blob') known.add(was.id)
    if (is && !isSame(was, is)) added.push(is)
  }
  const own = added.filter((block) => block.type === 'inline' || !known.has(block.id))
  const blobs = new Map(own.flatMap((block) => (block.type === 'blob' ? [[block.id, block]] : [])))
  const inline = own.filter(({ type }) => type === 'inline')
  const { bytes } = await nodes.read(() => totalsOf(nodes, tree))
  return { private: sum(inline) + sum([...blobs.values()]), shared: bytes - sum(own) }
}

function sum(blocks: readonly BlockRef[]): number {
  return blocks.reduce((bytes, block) => bytes + blockLength(block), 0)
}

function blockOf(key: Uint8Array, value: Uint8Array | undefined): BlockRef | undefined {
  if (!value) return undefined
  const { type } = parseKey(key)
  if (type === 'inode') return decodeInode(value).content?.first
  return type === 'block' ? decodeBlock(value) : undefined
}

function isSame(a: BlockRef | undefined, b: BlockRef): boolean {
  if (a?.type === 'blob' && b.type === 'blob') return a.id === b.id
  return a?.type === 'inline' && b.type === 'inline' && equalBytes(a.bytes, b.bytes)
}
