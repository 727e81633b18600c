import { equalBytes, type Ino } from '@cairn/protocol'
import { type BlockRef } from '../content/block.ts'
import type { Inode, Link, Xattrs } from '../filesystem/inode.ts'
import { sameLink } from '../filesystem/rules/directory.ts'

/** A thing as one side has it. */
export interface Version {
  readonly ino: Ino
  readonly inode: Inode
  /** All its names. Directories are given by identity, so that the sides can be compared. */
  readonly links: readonly Link[]
  /** The same names in the same order, with directories as this side numbers them. */
  readonly names: readonly Link[]
}

/** Whether two inodes have the same permissions and owners. Times are not decisions. */
export function sameAttributes(a: Inode, b: Inode): boolean {
  return (
    a === b ||
    (a.mode === b.mode && a.uid === b.uid && a.gid === b.gid && sameXattrs(a.xattrs, b.xattrs))
  )
}

function sameXattrs(a: Xattrs | undefined, b: Xattrs | undefined): boolean {
  if (a === b) return true
  if (a?.size !== b?.size) return false
  for (const [name, value] of a!) {
    const other = b!.get(name)
    if (!other || !equalBytes(value, other)) return false
  }
  return true
}

export function sameLinks(a: readonly Link[], b: readonly Link[]): boolean {
  return a.length === b.length && a.every((link) => hasLink(b, link))
}

export function hasLink(links: readonly Link[] | undefined, link: Link): boolean {
  return links !== undefined && links.some((other) => sameLink(other, link))
}

export function withoutLinks(links: readonly Link[], taken: readonly Link[]): readonly Link[] {
  return links.filter((link) => !hasLink(taken, link))
}

export function sameBlock(a: BlockRef | undefined, b: BlockRef | undefined): boolean {
  if (a?.type === 'inline' && b?.type === 'inline') return equalBytes(a.bytes, b.bytes)
  if (a?.type === 'blob' && b?.type === 'blob') return a.id === b.id
  return a === b
}

/** Size, block 0, symlink target and device number: what of the content stands in the inode itself. */
export function sameInlineContent(a: Inode, b: Inode): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  // A directory holds names, and those are the business of what they name.
  if (a.kind === 'directory') return true
  if (a.size !== b.size || a.rdev !== b.rdev) return false
  if (a.target && b.target) return equalBytes(a.target, b.target)
  return sameBlock(a.content?.first, b.content?.first)
}
