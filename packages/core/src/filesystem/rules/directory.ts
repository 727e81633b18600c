import { FsError, type Ino, type Name } from '@cairn/protocol'
import type { Changes } from '../changes.ts'
import { type Dentry, type Inode, laterTime, type Link } from '../inode.ts'
import type { Time } from '../../ports/records.ts'
import type { View } from '../view.ts'

export function getInode(view: View, ino: Ino): Inode {
  const inode = view.inode(ino)
  if (!inode) throw new FsError('ESTALE')
  return inode
}

/** A directory that still has a name: a removed one takes no more entries. */
export function getDirectory(view: View, ino: Ino): Inode {
  const inode = getInode(view, ino)
  if (inode.kind !== 'directory') throw new FsError('ENOTDIR')
  if (inode.nlink === 0) throw new FsError('ENOENT')
  return inode
}

export function getFile(view: View, ino: Ino): Inode {
  const inode = getInode(view, ino)
  if (inode.kind === 'directory') throw new FsError('EISDIR')
  if (inode.kind !== 'file') throw new FsError('EINVAL')
  return inode
}

export function getChild(view: View, parent: Ino, name: Name): Dentry {
  const dentry = view.child(parent, name)
  if (!dentry) throw new FsError('ENOENT')
  return dentry
}

/** Puts a name into a directory. The caller has checked that it is free. */
export function addName(changes: Changes, link: Link, dentry: Dentry, time: Time): void {
  changes.setChild(link.parent, link.name, dentry)
  touchDirectory(changes, link.parent, time, 1, dentry.kind === 'directory' ? 1 : 0)
}

export function removeName(changes: Changes, link: Link, dentry: Dentry, time: Time): void {
  changes.removeChild(link.parent, link.name)
  touchDirectory(changes, link.parent, time, -1, dentry.kind === 'directory' ? -1 : 0)
}

function touchDirectory(
  changes: Changes,
  ino: Ino,
  time: Time,
  entries: number,
  subdirectories: number,
): void {
  const directory = getInode(changes, ino)
  changes.setInode(ino, {
    ...directory,
    size: directory.size + entries,
    nlink: directory.nlink + subdirectories,
    mtime: time,
    ctime: laterTime(directory.ctime, time),
  })
}

/** Gives an inode one more name. One name stands in the inode, several stand under link keys. */
export function addLink(changes: Changes, ino: Ino, link: Link, time: Time): void {
  const inode = getInode(changes, ino)
  if (inode.nlink === 0) {
    changes.setInode(ino, { ...inode, nlink: 1, home: link, ctime: laterTime(inode.ctime, time) })
    return
  }
  changes.setLinks(ino, inode.home ? [inode.home, link] : [...changes.links(ino), link])
  changes.setInode(ino, {
    ...inode,
    nlink: inode.nlink + 1,
    home: undefined,
    ctime: laterTime(inode.ctime, time),
  })
}

/**
 * Takes one name from an inode. Without a name it stays until it is reaped: a client may have it
 * open.
 */
export function removeLink(changes: Changes, ino: Ino, link: Link, time: Time): void {
  const inode = getInode(changes, ino)
  if (inode.home) {
    changes.setInode(ino, {
      ...inode,
      nlink: 0,
      home: undefined,
      ctime: laterTime(inode.ctime, time),
    })
    return
  }
  const left = changes.links(ino).filter((other) => !sameLink(other, link))
  const home = left.length === 1 ? left[0] : undefined
  changes.setLinks(ino, home ? [] : left)
  changes.setInode(ino, { ...inode, nlink: left.length, home, ctime: laterTime(inode.ctime, time) })
}

/** A directory that is removed loses its own `.` and its name at once. */
export function orphanDirectory(changes: Changes, ino: Ino, time: Time): void {
  const inode = getInode(changes, ino)
  changes.setInode(ino, {
    ...inode,
    nlink: 0,
    home: undefined,
    ctime: laterTime(inode.ctime, time),
  })
}

export function sameLink(a: Link, b: Link): boolean {
  return a.parent === b.parent && a.name === b.name
}
