import type { CopyOp, CreateOp, FallocateOp, Kind, Time, WriteOp } from '@cairn/core'
import { type ByteString, FsError, type Ino, type Name } from '@cairn/protocol'
import { SparseBytes } from './sparse-bytes.ts'

/** A file or directory. Its names are wherever a directory holds it; nothing is written down twice. */
export interface ModelInode {
  readonly ino: Ino
  readonly kind: Kind
  mode: number
  uid: number
  gid: number
  readonly rdev: number
  atime: Time
  mtime: Time
  ctime: Time
  readonly target: Uint8Array | undefined
  readonly xattrs: Map<ByteString, Uint8Array>
  readonly children: Map<Name, ModelInode>
  readonly bytes: SparseBytes
  /** The length of a file. */
  length: number
}

export interface ModelName {
  readonly directory: ModelInode
  readonly name: Name
}

export function makeInode(
  op: Pick<CreateOp, 'ino' | 'kind' | 'mode' | 'uid' | 'gid' | 'rdev' | 'time'> & {
    readonly target?: Uint8Array | undefined
  },
): ModelInode {
  const { ino, kind, uid, gid, time } = op
  return {
    ino,
    kind,
    mode: op.mode & 0o7777,
    uid,
    gid,
    rdev: kind === 'character' || kind === 'block' ? op.rdev : 0,
    atime: time,
    mtime: time,
    ctime: time,
    target: op.target,
    xattrs: new Map(),
    children: new Map(),
    bytes: new SparseBytes(),
    length: 0,
  }
}

/** A clock that is behind takes no ctime back. */
export function changeAt(inode: ModelInode, time: Time): void {
  const { sec, nsec } = inode.ctime
  if (time.sec > sec || (time.sec === sec && time.nsec > nsec)) inode.ctime = time
}

export function attach(directory: ModelInode, name: Name, inode: ModelInode, time: Time): void {
  directory.children.set(name, inode)
  directory.mtime = time
  changeAt(directory, time)
  changeAt(inode, time)
}

export function detach(directory: ModelInode, name: Name, time: Time): void {
  const inode = directory.children.get(name)!
  directory.children.delete(name)
  directory.mtime = time
  changeAt(directory, time)
  changeAt(inode, time)
}

export function modify(file: ModelInode, op: WriteOp | FallocateOp | CopyOp): void {
  file.mtime = op.time
  changeAt(file, op.time)
  if (op.dropPrivileges === false) return
  const keepsSetgid = op.dropPrivileges === 'member' && (file.mode & 0o010) === 0
  file.mode &= keepsSetgid ? 0o3777 : 0o1777
}

export function childOf(directory: ModelInode, name: Name): ModelInode {
  const child = directory.children.get(name)
  if (!child) throw new FsError('ENOENT')
  return child
}

export function isInside(inode: ModelInode, ancestor: ModelInode): boolean {
  if (inode === ancestor) return true
  return [...ancestor.children.values()].some((child) => isInside(inode, child))
}

export function requireReplaceable(source: ModelInode, target: ModelInode): void {
  if (source.kind === 'directory') requireEmpty(target)
  else if (target.kind === 'directory') throw new FsError('EISDIR')
}

export function requireEmpty(inode: ModelInode): void {
  if (inode.kind !== 'directory') throw new FsError('ENOTDIR')
  if (inode.children.size > 0) throw new FsError('ENOTEMPTY')
}

export function requireFree(directory: ModelInode, name: Name): void {
  requireName(name)
  if (directory.children.has(name)) throw new FsError('EEXIST')
}

export function requireName(name: Name): void {
  if (name.length > 255) throw new FsError('ENAMETOOLONG')
  if (name === '' || name === '.' || name === '..') throw new FsError('EINVAL')
  if (name.includes('/') || name.includes('\0')) throw new FsError('EINVAL')
}
