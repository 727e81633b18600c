import type { Time } from '@cairn/core'
import { type ByteString, FsError, type Ino } from '@cairn/protocol'
import type { Fsmonitor } from '../fsmonitor/fsmonitor.ts'
import type {
  Answer,
  Attributes,
  KernelCaller,
  Entry,
  FuseFileSystem,
} from '../fuse/file-system.ts'
import { andThen } from './answers.ts'

/** Above every number a workspace gives out. */
const firstNode = 2 ** 52
const directoryNode = firstNode
const nodesPerSecond = 100_000
const rootNode = 1
const name = '.cairn' as ByteString
/** What changed below a directory since a token: the answer of git's fsmonitor hook. It is in no listing. */
const changesName = /^changes(?:-(\d+)-(.*))?$/
const seekData = 3

/** Whether a node is `.cairn` or in it. */
export function isStatusNode(nodeid: number): boolean {
  return nodeid >= firstNode
}

export function isStatusName(parent: number, child: ByteString): boolean {
  return parent === rootNode && child === name
}

/** The files of `.cairn` and what each says at the moment it is looked at. */
export type StatusFiles = Readonly<Record<string, () => Answer<string>>>

/**
 * Shows `.cairn/` in the root of a mount: text for programs and people in the mount who want to
 * know its state. It is in no listing, so that no tool copies or commits it. Each lookup of a file
 * gets a node of its own with the text of that moment: an open file stays as it was, and the kernel
 * never shows old text for new.
 */
export function statusDirectory(
  below: FuseFileSystem,
  files: StatusFiles,
  now: () => Time,
  fsmonitor: Pick<Fsmonitor, 'answer' | 'hold'>,
): FuseFileSystem {
  const names = Object.keys(files)
  const nodes = new TextNodes(names, now)
  const directory = {
    nodeid: directoryNode,
    attributes: attributes(directoryNode, 0o040555, 0, now()),
    ttl: 0,
  }

  const look = (file: string): Answer<Entry | undefined> => {
    const text = textOf(file, files, fsmonitor)
    return text === undefined ? undefined : andThen(text, (known) => nodes.enter(file, known))
  }

  const own: Partial<FuseFileSystem> = {
    lookup: (parent, child, caller) => {
      if (parent === directoryNode) return look(child)
      if (parent === rootNode && child === name) return directory
      return below.lookup(parent, child, caller)
    },
    forget: (nodeid, count) => {
      if (nodeid < firstNode) below.forget(nodeid, count)
      else nodes.forget(nodeid)
    },
    getattr: (nodeid) => {
      if (nodeid < firstNode) return below.getattr(nodeid)
      return nodeid === directoryNode ? directory : found(nodes.find(nodeid)).entry
    },
    read: (nodeid, offset, size) =>
      nodeid < firstNode
        ? below.read(nodeid, offset, size)
        : found(nodes.find(nodeid)).text.subarray(offset, offset + size),
    readdir: (nodeid, offset, fill) => {
      if (nodeid !== directoryNode) return below.readdir(nodeid, offset, fill)
      return Promise.all(names.map(async (file) => look(file))).then((entries) => {
        names.forEach((file, index) => {
          const position = index + 3
          if (position > offset) fill(file as ByteString, position, entries[index]!)
        })
      })
    },
    dots: (nodeid) =>
      nodeid < firstNode ? below.dots(nodeid) : { self: directoryNode, parent: directoryNode },
    lseek: (nodeid, offset, whence) =>
      nodeid < firstNode
        ? below.lseek(nodeid, offset, whence)
        : seekText(found(nodes.find(nodeid)).text.length, offset, whence),
    // Read and written instead, as between any two file systems.
    copyFileRange: (from, fromOffset, to, ...rest) => {
      if (from >= firstNode || to >= firstNode) throw new FsError('EXDEV')
      return fsmonitor.hold(below.copyFileRange(from, fromOffset, to, ...rest))
    },
    listxattr: (nodeid, caller) => (nodeid < firstNode ? below.listxattr(nodeid, caller) : []),
    getxattr: (nodeid, attribute, caller) => {
      if (nodeid >= firstNode) throw new FsError('ENODATA')
      return below.getxattr(nodeid, attribute, caller)
    },
  }
  return {
    ...guarded(below, fsmonitor.hold.bind(fsmonitor)),
    ...own,
    ...(below.setlk && locksOf(below)),
  }
}

interface TextNode {
  readonly text: Uint8Array
  readonly entry: Entry
}

/** What the kernel knows of the files of `.cairn`. */
class TextNodes {
  readonly #names: readonly string[]
  readonly #now: () => Time
  readonly #nodes = new Map<number, TextNode>()
  #last: number

  constructor(names: readonly string[], now: () => Time) {
    this.#names = names
    this.#now = now
    // The kernel may remember nodes of a process before this one, and their texts.
    this.#last = directoryNode + now().sec * nodesPerSecond
  }

  enter(file: string, text: Uint8Array): Entry {
    const nodeid = ++this.#last
    // One number for a file, whatever its text: tools compare it to see whether a file was replaced.
    const ino = directoryNode + 2 + this.#names.indexOf(file)
    const shown = attributes(ino, 0o100444, text.length, this.#now())
    const entry = { nodeid, attributes: shown, ttl: 0 }
    this.#nodes.set(nodeid, { text, entry })
    return entry
  }

  find(nodeid: number): TextNode | undefined {
    return this.#nodes.get(nodeid)
  }

  forget(nodeid: number): void {
    this.#nodes.delete(nodeid)
  }
}

function textOf(
  file: string,
  files: StatusFiles,
  fsmonitor: Pick<Fsmonitor, 'answer'>,
): Answer<Uint8Array> | undefined {
  const asked = changesName.exec(file)
  if (asked) return fsmonitor.answer(asked[2] ?? '', Number(asked[1]) as Ino)
  const text = files[file]?.()
  return text === undefined ? undefined : andThen(text, (known) => Buffer.from(known))
}

/** The same file system, in which nothing of `.cairn` can be changed. Each change is given to `hold` until it is answered. */
function guarded(below: FuseFileSystem, hold: Fsmonitor['hold']): FuseFileSystem {
  const guard =
    <Rest extends unknown[], T>(
      change: (nodeid: number, ...rest: Rest) => Answer<T>,
    ): ((nodeid: number, ...rest: Rest) => Answer<T>) =>
    (nodeid, ...rest) => {
      if (nodeid >= firstNode) throw new FsError('EROFS')
      return hold(change(nodeid, ...rest))
    }
  const guardName = (parent: number, child: ByteString): void => {
    if (parent >= firstNode || (parent === rootNode && child === name)) throw new FsError('EROFS')
  }
  return {
    lookup: below.lookup.bind(below),
    forget: below.forget.bind(below),
    getattr: below.getattr.bind(below),
    setattr: guard(below.setattr.bind(below)),
    readlink: below.readlink.bind(below),
    mknod: guard(below.mknod.bind(below)),
    mkdir: guard(below.mkdir.bind(below)),
    symlink: guard(below.symlink.bind(below)),
    link: guard((nodeid, parent: number, child: ByteString, caller: KernelCaller) => {
      guardName(parent, child)
      return below.link(nodeid, parent, child, caller)
    }),
    unlink: guard(below.unlink.bind(below)),
    rmdir: (parent, child, caller) => {
      guardName(parent, child)
      return hold(below.rmdir(parent, child, caller))
    },
    rename: (parent, child, newParent, newChild, ...rest) => {
      guardName(parent, child)
      guardName(newParent, newChild)
      return hold(below.rename(parent, child, newParent, newChild, ...rest))
    },
    create: guard(below.create.bind(below)),
    ...(below.open && { open: below.open.bind(below) }),
    read: below.read.bind(below),
    write: guard(below.write.bind(below)),
    ...(below.flush && { flush: below.flush.bind(below) }),
    fsync: below.fsync.bind(below),
    fsyncdir: below.fsyncdir.bind(below),
    fallocate: guard(below.fallocate.bind(below)),
    copyFileRange: below.copyFileRange.bind(below),
    lseek: below.lseek.bind(below),
    getxattr: below.getxattr.bind(below),
    listxattr: below.listxattr.bind(below),
    setxattr: guard(below.setxattr.bind(below)),
    removexattr: guard(below.removexattr.bind(below)),
    readdir: below.readdir.bind(below),
    dots: below.dots.bind(below),
    statfs: below.statfs.bind(below),
    destroy: below.destroy.bind(below),
  }
}

/** A text is data up to its end. */
function seekText(size: number, offset: number, whence: number): number {
  if (offset < 0 || offset >= size) throw new FsError('ENXIO')
  return whence === seekData ? offset : size
}

/** Every close unlocks, also the close of a status file, which cannot be locked. */
function locksOf(below: FuseFileSystem): Partial<FuseFileSystem> {
  return {
    getlk: (nodeid, lock, caller) =>
      nodeid < firstNode ? below.getlk!(nodeid, lock, caller) : { ...lock, type: 'none' },
    setlk: (nodeid, lock, ...rest) => {
      if (nodeid < firstNode) return below.setlk!(nodeid, lock, ...rest)
      if (lock.type !== 'none') throw new FsError('EOPNOTSUPP')
    },
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
