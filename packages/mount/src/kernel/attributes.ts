import { allocatedBytes, type Inode, type Kind, modeBits } from '@cairn/core'
import type { Attributes } from '../fuse/file-system.ts'
import type { Owners } from './owners.ts'

const typeBits: Readonly<Record<Kind, number>> = {
  fifo: 0o010000,
  character: 0o020000,
  directory: 0o040000,
  block: 0o060000,
  file: 0o100000,
  symlink: 0o120000,
  socket: 0o140000,
}

const kindsByBits: ReadonlyMap<number, Kind> = new Map(
  Object.entries(typeBits).map(([kind, bits]) => [bits, kind as Kind]),
)

/** What kind of file a mode of mknod asks for. */
export function kindOf(mode: number): Kind | undefined {
  const bits = mode & 0o170000
  return bits === 0 ? 'file' : kindsByBits.get(bits)
}

const directoryBytes = 4096
const sectorBytes = 512

/** What stat shows. Directories have a size as they have on a disk: tools divide by it. */
export function attributesOf(ino: number, inode: Inode, owners: Owners): Attributes {
  const allocated = inode.content ? allocatedBytes(inode.content) : 0
  const { kind, mode, nlink, uid, gid, rdev, atime, mtime, ctime } = inode
  const isDirectory = kind === 'directory'
  return {
    ino,
    mode: mode | typeBits[kind],
    nlink,
    uid: owners.uid(uid),
    gid: owners.gid(gid),
    rdev,
    size: isDirectory ? directoryBytes : inode.size,
    blocks: isDirectory ? directoryBytes / sectorBytes : Math.ceil(allocated / sectorBytes),
    atime,
    mtime,
    ctime,
  }
}

/** In a directory with set-group-id new files get its group, and directories the bit as well. */
export function inherited(
  directory: Inode,
  { kind, mode }: { readonly kind: Kind; readonly mode: number },
  gid: number,
): { readonly gid: number; readonly mode: number } {
  const bits = mode & modeBits.all
  if ((directory.mode & modeBits.setgid) === 0) return { gid, mode: bits }
  return { gid: directory.gid, mode: kind === 'directory' ? bits | modeBits.setgid : bits }
}
