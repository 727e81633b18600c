import { FsError, type Ino } from '@cairn/protocol'
import { type Dentry, type Inode, modeBits } from './inode.ts'
import type { PrivilegeDrop } from './op.ts'
import { getDirectory, getInode } from './rules/directory.ts'
import type { View } from './view.ts'

/** On whose behalf a call is made. */
export interface Credentials {
  readonly uid: number
  readonly gid: number
  /** Supplementary groups. */
  readonly groups: readonly number[]
}

/** For HTTP, which has no users of the file system: its callers may do what their key allows. */
export const superuser: Credentials = { uid: 0, gid: 0, groups: [] }

export const may = { execute: 1, write: 2, read: 4 } as const

export function isRoot(who: Credentials): boolean {
  return who.uid === 0
}

export function isMember(who: Credentials, gid: number): boolean {
  return who.gid === gid || who.groups.includes(gid)
}

export function privilegeDropOf(who: Credentials, inode: Inode): PrivilegeDrop {
  if (isRoot(who)) return false
  return isMember(who, inode.gid) ? 'member' : 'stranger'
}

/** Whether the permission bits allow `wanted`, a sum of `may`'s values. */
function allows(inode: Inode, who: Credentials, wanted: number): boolean {
  if (isRoot(who)) return overrides(inode, wanted)
  const shift = inode.uid === who.uid ? 6 : isMember(who, inode.gid) ? 3 : 0
  return ((inode.mode >>> shift) & wanted) === wanted
}

/** The superuser may do everything, except execute a file without any execute bit. */
function overrides(inode: Inode, wanted: number): boolean {
  return inode.kind === 'directory' || (wanted & may.execute) === 0 || (inode.mode & 0o111) !== 0
}

export function requireAccess(inode: Inode, who: Credentials, wanted: number): void {
  if (!allows(inode, who, wanted)) throw new FsError('EACCES')
}

export function requireOwner(inode: Inode, who: Credentials): void {
  if (!isRoot(who) && who.uid !== inode.uid) throw new FsError('EPERM')
}

/** Looking a name up takes the right to search its directory. */
export function searchable(view: View, ino: Ino, who: Credentials): Inode {
  const directory = getInode(view, ino)
  if (directory.kind !== 'directory') throw new FsError('ENOTDIR')
  requireAccess(directory, who, may.execute)
  return directory
}

export function requireCreate(view: View, parent: Ino, who: Credentials): Inode {
  const directory = getDirectory(view, parent)
  requireAccess(directory, who, may.write | may.execute)
  return directory
}

/** Taking a name away. In a sticky directory only the owners of the file and of the directory may. */
export function requireDelete(view: View, parent: Ino, dentry: Dentry, who: Credentials): void {
  const directory = requireCreate(view, parent, who)
  if (!(directory.mode & modeBits.sticky) || isRoot(who) || directory.uid === who.uid) return
  if (getInode(view, dentry.ino).uid !== who.uid) throw new FsError('EPERM')
}
