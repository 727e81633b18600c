import type { Hash, Ino, Name } from '@cairn/protocol'
import type { BlockRef } from '../content/block.ts'
import type { FoldedBlock } from '../content/content.ts'
import { findValue, range } from '../tree/lookup.ts'
import type { Snapshot } from '../ports/records.ts'
import type { Nodes } from '../tree/nodes.ts'
import type { Dentry, Inode, Link } from './inode.ts'
import { blockKey, dentryKey, inodeKey, parseKey, rangeStart } from './keys.ts'
import { checkLink, decodeBlock, decodeDentry, decodeInode } from './values.ts'
import type { NamedDentry, View } from './view.ts'

/** A snapshot as the rules see it. Throws NodeMiss for nodes that are not in memory. */
export class TreeView implements View {
  readonly #nodes: Nodes
  readonly #snapshot: Snapshot

  constructor(nodes: Nodes, snapshot: Snapshot) {
    this.#nodes = nodes
    this.#snapshot = snapshot
  }

  inode(ino: Ino): Inode | undefined {
    const value = this.#find(inodeKey(ino))
    return value && decodeInode(value)
  }

  child(parent: Ino, name: Name): Dentry | undefined {
    const value = findValue(this.#nodes, this.#snapshot.root, dentryKey(parent, name))
    return value && decodeDentry(value)
  }

  links(ino: Ino): readonly Link[] {
    const links: Link[] = []
    const { root } = this.#snapshot
    for (const { key, value } of range(
      this.#nodes,
      root,
      rangeStart('link', ino),
      rangeStart('link', ino + 1),
    )) {
      checkLink(value)
      const parsed = parseKey(key)
      if (parsed.type === 'link') links.push(parsed.link)
    }
    return links
  }

  blockFrom(ino: Ino, index: number): FoldedBlock | undefined {
    const { root, orphans } = this.#snapshot
    for (const tree of orphans === this.#nodes.emptyRoot ? [root] : [root, orphans]) {
      const [found] = this.#blocksIn(tree, ino, index)
      if (found) return found
    }
    return undefined
  }

  /** The folded blocks from `index` on, by their numbers. */
  blocks(ino: Ino, index: number): ReadonlyMap<number, BlockRef> {
    const blocks = new Map<number, BlockRef>()
    const { root, orphans } = this.#snapshot
    for (const tree of [root, orphans])
      for (const found of this.#blocksIn(tree, ino, index)) blocks.set(found.index, found.block)
    return blocks
  }

  *#blocksIn(tree: Hash, ino: Ino, index: number): Generator<FoldedBlock> {
    const [from, to] = [blockKey(ino, index), rangeStart('block', ino + 1)]
    for (const { key, value } of range(this.#nodes, tree, from, to)) {
      const parsed = parseKey(key)
      if (parsed.type === 'block') yield { index: parsed.index, block: decodeBlock(value) }
    }
  }

  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[] {
    // The first key after a name is that name with a zero byte: names hold none.
    const from = dentryKey(parent, after === undefined ? '' : `${after}\0`)
    const to = rangeStart('dentry', parent + 1)
    const entries: NamedDentry[] = []
    for (const { key, value } of range(this.#nodes, this.#snapshot.root, from, to)) {
      if (entries.length === limit) break
      const parsed = parseKey(key)
      if (parsed.type === 'dentry') entries.push({ name: parsed.name, ...decodeDentry(value) })
    }
    return entries
  }

  #find(key: Uint8Array): Uint8Array | undefined {
    const { root, orphans } = this.#snapshot
    const value = findValue(this.#nodes, root, key)
    if (value || orphans === this.#nodes.emptyRoot) return value
    return findValue(this.#nodes, orphans, key)
  }
}
