import { type Inode, pathOf, type View } from '@cairn/core'
import { type FileEntry, type FileStat, type Ino, type Name, toByteString } from '@cairn/protocol'
import { nanoseconds } from '../ports/clock.ts'
import { spellPath, spellText } from './spelling.ts'
import { tagsOf } from './tags.ts'

export function statOf(view: View, ino: Ino, inode: Inode, path?: readonly Name[]): FileStat {
  const names = path ?? pathOf(view, ino) ?? []
  const tags = tagsOf(inode)
  return {
    ...spellPath('path', names),
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
    ...(inode.target ? spellText('target', toByteString(inode.target)) : {}),
    ...(tags ? { tags } : {}),
    etag: etagOf(ino, inode),
  }
}

/** Every change moves ctime, and no two changes carry the same time: equal tags mean equal bytes. */
export function etagOf(ino: Ino, inode: Inode): string {
  return `"${ino.toString(36)}-${nanoseconds(inode.ctime).toString(36)}-${inode.size.toString(36)}"`
}

export function entryOf(view: View, ino: Ino, inode: Inode, path: readonly Name[]): FileEntry {
  return { ...spellText('name', path.at(-1)!), ...statOf(view, ino, inode, path) }
}
