import type { Ino, Name } from '@cairn/protocol'
import type { FoldedBlock } from '../content/content.ts'
import type { Dentry, Inode, Link } from './inode.ts'

/**
 * The tree as the file-system rules see it. Synchronous: a mount answers the kernel from memory. An
 * implementation that does not have an answer at hand throws (NodeMiss), and the caller loads and asks again.
 */
export interface View {
  /** Also inodes that lost their last name while in use: their `nlink` is 0. */
  inode(ino: Ino): Inode | undefined
  child(parent: Ino, name: Name): Dentry | undefined
  /** The names of an inode that has two or more, in any order. */
  links(ino: Ino): readonly Link[]
  /** The first folded block numbered `index`, 1 or above, or higher. Block 0 is in the inode. */
  blockFrom(ino: Ino, index: number): FoldedBlock | undefined
  /** Up to `limit` entries with names after `after` in byte order. A name is a position that stays. */
  entries(parent: Ino, after: Name | undefined, limit: number): readonly NamedDentry[]
}

export interface NamedDentry extends Dentry {
  readonly name: Name
}
