import { type Inode, pathOf, type View } from '@cairn/core'
import {
  type FileEntry,
  type FileStat,
  formatPath,
  fromByteString,
  type Ino,
  type Name,
} from '@cairn/protocol'
import { nanoseconds } from '../workspaces/clock.ts'

export function statOf(view: View, ino: Ino, inode: Inode, path?: readonly Name[]): FileStat {
  const names = path ?? pathOf(view, ino) ?? []
  return {
    path: formatPath(names),
    kind: inode.kind,
    ino,
    size: inode.size,
    mode: inode.mode.toString(8).padStart(4, '0'),
    uid: inode.uid,
    gid: inode.gid,
    nlink: inode.nlink,
    mtimeNs: String(nanoseconds(inode.mtime)),
    ctimeNs: String(nanoseconds(inode.ctime)),
    atimeNs: String(nanoseconds(inode.atime)),
    ...(inode.target ? { target: new TextDecoder().decode(inode.target) } : {}),
    etag: etagOf(ino, inode),
  }
}

/** Every change moves ctime, and no two changes carry the same time: equal tags mean equal bytes. */
export function etagOf(ino: Ino, inode: Inode): string {
  return `"${ino.toString(36)}-${nanoseconds(inode.ctime).toString(36)}-${inode.size.toString(36)}"`
}

export function entryOf(view: View, ino: Ino, inode: Inode, path: readonly Name[]): FileEntry {
  const bytes = fromByteString(path.at(-1)!)
  const name = new TextDecoder().decode(bytes)
  const isUtf8 = Buffer.from(name).equals(bytes)
  return {
    name,
    ...(isUtf8 ? {} : { nameBytes: Buffer.from(bytes).toString('base64') }),
    ...statOf(view, ino, inode, path),
  }
}
