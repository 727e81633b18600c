import { equalBytes, type Ino } from '@cairn/protocol'
import { type BlockRef } from '../content/block.ts'
import type { Inode, Link, Xattrs } from '../filesystem/inode.ts'
import { sameLink } from '../filesystem/rules/directory.ts'

/** An inode on one side, with all its names. */
export interface Version {
  readonly ino: Ino
  readonly inode: Inode
  readonly links: readonly Link[]
}

export function sameAttributes(a: Inode, b: Inode): boolean {
  return (
    a.mode === b.mode &&
    a.uid === b.uid &&
    a.gid === b.gid &&
    a.rdev === b.rdev &&
    sameXattrs(a.xattrs, b.xattrs)
  )
}

export function sameXattrs(a: Xattrs | undefined, b: Xattrs | undefined): boolean {
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

export function hasLink(links: readonly Link[], link: Link): boolean {
  return links.some((other) => sameLink(other, link))
}

export function sameBlock(a: BlockRef | undefined, b: BlockRef | undefined): boolean {
  if (a?.type === 'inline' && b?.type === 'inline') return equalBytes(a.bytes, b.bytes)
  if (a?.type === 'blob' && b?.type === 'blob') return a.id === b.id
  return a === b
}

/** Block 0, size and symlink target: what of the content stands in the inode itself. */
export function sameInlineContent(a: Inode, b: Inode): boolean {
  if (a.kind === 'directory') return b.kind === 'directory'
  if (a.kind !== b.kind || a.size !== b.size) return false
  if (a.target || b.target)
    return a.target !== undefined && b.target !== undefined && equalBytes(a.target, b.target)
  return sameBlock(a.content?.first, b.content?.first)
}
