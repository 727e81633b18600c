import type { Time } from '@cairn/core'
import { type ByteString, FsError } from '@cairn/protocol'
import type { Attributes, Entry, FuseFileSystem } from '../fuse/file-system.ts'

/** Above every number a workspace gives out. */
const firstNode = 2 ** 52
const directoryNode = firstNode
const rootNode = 1
const name = '.cairn' as ByteString

/** The files of `.cairn` and what each says at the moment it is looked at. */
export type StatusFiles = Readonly<Record<string, () => string>>

/**
 * Shows `.cairn/` in the root of a mount: text for whoever works in there and wants to know how the mount is. It is
 * in no listing, so that no tool copies or commits it. Each look-up of a file gets a node of its own with the text of
 * that moment: what was opened stays as it was, and the kernel never shows old text for new.
 */
export function statusDirectory(
  below: FuseFileSystem,
  files: StatusFiles,
  now: () => Time,
): FuseFileSystem {
  const texts = new Map<number, { readonly text: Uint8Array; readonly entry: Entry }>()
  let lastNode = directoryNode
  const directory = {
    nodeid: directoryNode,
    attributes: attributes(directoryNode, 0o040555, 0, now()),
    ttl: 0,
  }

  const look = (file: string): Entry | undefined => {
    const text = files[file]?.()
    if (text === undefined) return undefined
    const bytes = Buffer.from(text)
    const nodeid = ++lastNode
    const entry = { nodeid, attributes: attributes(nodeid, 0o100444, bytes.length, now()), ttl: 0 }
    texts.set(nodeid, { text: bytes, entry })
    return entry
  }

  const own: Partial<FuseFileSystem> = {
    lookup: (parent, child, caller) => {
      if (parent === directoryNode) return look(child)
      if (parent === rootNode && child === name) return directory
      return below.lookup(parent, child, caller)
    },
    forget: (nodeid, count) => {
      if (nodeid < firstNode) below.forget(nodeid, count)
      else texts.delete(nodeid)
    },
    getattr: (nodeid) => {
      if (nodeid < firstNode) return below.getattr(nodeid)
      return nodeid === directoryNode ? directory : found(texts.get(nodeid)).entry
    },
    read: (nodeid, offset, size) =>
      nodeid < firstNode
        ? below.read(nodeid, offset, size)
        : found(texts.get(nodeid)).text.subarray(offset, offset + size),
    readdir: (nodeid, offset, fill) => {
      if (nodeid !== directoryNode) return below.readdir(nodeid, offset, fill)
      Object.keys(files).forEach((file, index) => {
        const position = index + 3
        if (position > offset) fill(file as ByteString, position, look(file)!)
      })
    },
    listxattr: (nodeid, caller) => (nodeid < firstNode ? below.listxattr(nodeid, caller) : []),
    getxattr: (nodeid, attribute, caller) => {
      if (nodeid >= firstNode) throw new FsError('ENODATA')
      return below.getxattr(nodeid, attribute, caller)
    },
  }
  return { ...guarded(below), ...own }
}

/** The same file system, in which nothing of `.cairn` can be changed. */
function guarded(below: FuseFileSystem): FuseFileSystem {
  const guard = <Rest extends unknown[], T>(
    change: (nodeid: number, ...rest: Rest) => T,
  ): ((nodeid: number, ...rest: Rest) => T) => {
    const bound = change.bind(below)
    return (nodeid, ...rest) => {
      if (nodeid >= firstNode) throw new FsError('EROFS')
      return bound(nodeid, ...rest)
    }
  }
  return {
    lookup: below.lookup.bind(below),
    forget: below.forget.bind(below),
    getattr: below.getattr.bind(below),
    setattr: guard(below.setattr),
    readlink: below.readlink.bind(below),
    mknod: guard(below.mknod),
    mkdir: guard(below.mkdir),
    symlink: guard(below.symlink),
    link: guard(below.link),
    unlink: guard(below.unlink),
    rmdir: guard(below.rmdir),
    rename: guard(below.rename),
    create: guard(below.create),
    ...(below.open && { open: below.open.bind(below) }),
    read: below.read.bind(below),
    write: guard(below.write),
    ...(below.flush && { flush: below.flush.bind(below) }),
    fsync: below.fsync.bind(below),
    fsyncdir: below.fsyncdir.bind(below),
    fallocate: guard(below.fallocate),
    copyFileRange: below.copyFileRange.bind(below),
    lseek: below.lseek.bind(below),
    getxattr: below.getxattr.bind(below),
    listxattr: below.listxattr.bind(below),
    setxattr: guard(below.setxattr),
    removexattr: guard(below.removexattr),
    readdir: below.readdir.bind(below),
    dots: below.dots.bind(below),
    statfs: below.statfs.bind(below),
    destroy: below.destroy.bind(below),
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new FsError('ESTALE')
  return value
}

function attributes(ino: number, mode: number, size: number, time: Time): Attributes {
  const times = { atime: time, mtime: time, ctime: time }
  return { ino, mode, size, nlink: 1, uid: 0, gid: 0, rdev: 0, blocks: 0, ...times }
}
