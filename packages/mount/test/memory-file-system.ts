import { constants } from 'node:fs'
import type { Time } from '@cairn/core'
import { type ByteString, FsError } from '@cairn/protocol'
import type {
  Answer,
  AttributeChange,
  Attributes,
  AttributesAnswer,
  KernelCaller,
  Entry,
  FileSystemStatistics,
  FillListing,
  FuseFileSystem,
} from '../src/fuse/file-system.ts'

const { S_IFDIR, S_IFLNK, S_IFMT, S_IFREG } = constants

export interface MemoryNode {
  readonly nodeid: number
  mode: number
  uid: number
  gid: number
  rdev: number
  nlink: number
  data: Uint8Array
  size: number
  atime: Time
  mtime: Time
  ctime: Time
  /** Set for a directory; a Map lists in the order of insertion. */
  readonly children: Map<ByteString, MemoryNode>
  readonly xattrs: Map<ByteString, Uint8Array>
  /** How often the kernel was told of it, less what it forgot. */
  lookups: number
}

const nowTime = (): Time => {
  const ms = Date.now()
  return { sec: Math.floor(ms / 1000), nsec: (ms % 1000) * 1_000_000 }
}

/** The least that answers the kernel, to test what lies between. */
export class MemoryFileSystem implements FuseFileSystem {
  readonly root: MemoryNode
  readonly nodes: Map<number, MemoryNode> = new Map()
  /** Requests that were asked, in order, by method. */
  readonly asked: string[] = []
  ttl = 3600
  /** Waits before a lookup of a name or a read is answered, when it gives a promise. */
  hold: ((what: string) => Promise<void> | undefined) | undefined
  isDestroyed = false
  /** A benchmark wants no list of a million words. */
  isCounting = true
  #last = 0

  constructor() {
    this.root = this.#make(S_IFDIR | 0o755, { uid: 0, gid: 0, pid: 0, request: 0, resent: false })
    this.root.nlink = 2
  }

  /** As if it had come from elsewhere: the kernel is not told. */
  put(name: ByteString, text: string): MemoryNode {
    const node = this.#make(S_IFREG | 0o644, { uid: 0, gid: 0, pid: 0, request: 0, resent: false })
    node.data = Buffer.from(text)
    node.size = node.data.length
    this.root.children.set(name, node)
    return node
  }

  lookup(parent: number, name: ByteString): Answer<Entry | undefined> {
    this.#note('lookup')
    const answer = (): Entry | undefined => {
      const node = this.#get(parent).children.get(name)
      return node === undefined ? undefined : this.#entry(node)
    }
    const held = this.hold?.(name)
    return held === undefined ? answer() : held.then(answer)
  }

  forget(nodeid: number, count: number): void {
    const node = this.nodes.get(nodeid)
    if (node === undefined) return
    node.lookups -= count
    this.#dropIfUnused(node)
  }

  getattr(nodeid: number): AttributesAnswer {
    this.#note('getattr')
    return { attributes: attributesOf(this.#get(nodeid)), ttl: this.ttl }
  }

  setattr(nodeid: number, change: AttributeChange): AttributesAnswer {
    this.#note('setattr')
    const node = this.#get(nodeid)
    if (change.mode !== undefined) node.mode = (node.mode & S_IFMT) | change.mode
    if (change.uid !== undefined) node.uid = change.uid
    if (change.gid !== undefined) node.gid = change.gid
    if (change.size !== undefined) resize(node, change.size)
    if (change.killPrivileges) node.mode &= ~0o4000
    if (change.atime !== undefined) node.atime = change.atime === 'now' ? nowTime() : change.atime
    if (change.mtime !== undefined) node.mtime = change.mtime === 'now' ? nowTime() : change.mtime
    node.ctime = nowTime()
    return { attributes: attributesOf(node), ttl: this.ttl }
  }

  readlink(nodeid: number): Uint8Array {
    return this.#get(nodeid).data
  }

  mknod(parent: number, name: ByteString, mode: number, rdev: number, caller: KernelCaller): Entry {
    const node = this.#make(mode, caller)
    node.rdev = rdev
    return this.#enter(parent, name, node)
  }

  mkdir(parent: number, name: ByteString, mode: number, caller: KernelCaller): Answer<Entry> {
    const make = (): Entry => {
      const node = this.#make(S_IFDIR | mode, caller)
      node.nlink = 2
      return this.#enter(parent, name, node)
    }
    const held = this.hold?.(`make ${name}`)
    return held ? held.then(make) : make()
  }

  symlink(parent: number, name: ByteString, target: Uint8Array, caller: KernelCaller): Entry {
    const node = this.#make(S_IFLNK | 0o777, caller)
    node.data = target.slice()
    node.size = target.length
    return this.#enter(parent, name, node)
  }

  link(nodeid: number, parent: number, name: ByteString): Entry {
    const node = this.#get(nodeid)
    node.nlink++
    return this.#enter(parent, name, node)
  }

  unlink(parent: number, name: ByteString): void {
    const { children } = this.#get(parent)
    const node = children.get(name)
    if (node === undefined) throw new FsError('ENOENT')
    children.delete(name)
    node.nlink--
    this.#dropIfUnused(node)
  }

  rmdir(parent: number, name: ByteString): void {
    const { children } = this.#get(parent)
    const node = children.get(name)
    if (node === undefined) throw new FsError('ENOENT')
    if (node.children.size > 0) throw new FsError('ENOTEMPTY')
    children.delete(name)
    node.nlink = 0
    this.#dropIfUnused(node)
  }

  rename(
    parent: number,
    name: ByteString,
    newParent: number,
    newName: ByteString,
    flags: number,
  ): void {
    const from = this.#get(parent).children
    const to = this.#get(newParent).children
    const node = from.get(name)
    const target = to.get(newName)
    if (node === undefined) throw new FsError('ENOENT')
    if (flags === 1 && target !== undefined) throw new FsError('EEXIST')
    if (flags === 2) {
      if (target === undefined) throw new FsError('ENOENT')
      from.set(name, target)
    } else {
      if (target !== undefined) this.unlink(newParent, newName)
      from.delete(name)
    }
    to.set(newName, node)
  }

  create(
    parent: number,
    name: ByteString,
    mode: number,
    _openFlags: number,
    caller: KernelCaller,
  ): Entry {
    this.#note('create')
    return this.#enter(parent, name, this.#make(S_IFREG | mode, caller))
  }

  read(nodeid: number, offset: number, size: number): Answer<Uint8Array> {
    this.#note('read')
    const node = this.#get(nodeid)
    const answer = (): Uint8Array => node.data.subarray(offset, Math.min(offset + size, node.size))
    const held = this.hold?.(`read ${nodeid}`)
    return held === undefined ? answer() : held.then(answer)
  }

  write(
    nodeid: number,
    offset: number,
    data: Uint8Array,
    _openFlags: number,
    killPrivileges: boolean,
  ): Answer<number> {
    this.#note('write')
    const node = this.#get(nodeid)
    if (offset + data.length > node.size) resize(node, offset + data.length)
    node.data.set(data, offset)
    if (killPrivileges) node.mode &= ~0o4000
    node.mtime = node.ctime = nowTime()
    return data.length
  }

  fsync(): void {
    this.#note('fsync')
  }

  fsyncdir(): void {
    this.#note('fsyncdir')
  }

  fallocate(nodeid: number, offset: number, length: number, mode: number): void {
    const node = this.#get(nodeid)
    if (mode !== 0) throw new FsError('EOPNOTSUPP')
    if (offset + length > node.size) resize(node, offset + length)
  }

  copyFileRange(
    from: number,
    fromOffset: number,
    to: number,
    offset: number,
    length: number,
  ): Answer<number> {
    this.#note('copyFileRange')
    const source = this.#get(from)
    const data = source.data.slice(fromOffset, Math.min(fromOffset + length, source.size))
    return this.write(to, offset, data, 0, false)
  }

  lseek(nodeid: number, offset: number, whence: number): number {
    const { size } = this.#get(nodeid)
    if (offset >= size) throw new FsError('ENXIO')
    return whence === 3 ? offset : size
  }

  getxattr(nodeid: number, name: ByteString): Uint8Array {
    const value = this.#get(nodeid).xattrs.get(name)
    if (value === undefined) throw new FsError('ENODATA')
    return value
  }

  listxattr(nodeid: number): readonly ByteString[] {
    return [...this.#get(nodeid).xattrs.keys()]
  }

  setxattr(nodeid: number, name: ByteString, value: Uint8Array): void {
    this.#get(nodeid).xattrs.set(name, value.slice())
  }

  removexattr(nodeid: number, name: ByteString): void {
    if (!this.#get(nodeid).xattrs.delete(name)) throw new FsError('ENODATA')
  }

  dots(nodeid: number): { readonly self: number; readonly parent: number } {
    return { self: nodeid, parent: nodeid }
  }

  readdir(nodeid: number, offset: number, fill: FillListing): Answer<void> {
    this.#note('readdir')
    const list = (): void => {
      let position = 2
      for (const [name, node] of this.#get(nodeid).children) {
        if (++position <= offset) continue
        const entry = { nodeid: node.nodeid, attributes: attributesOf(node), ttl: this.ttl }
        if (!fill(name, position, entry)) return
        node.lookups++
      }
    }
    const held = this.hold?.(`list ${nodeid}`)
    return held === undefined ? list() : held.then(list)
  }

  statfs(): FileSystemStatistics {
    return {
      blocks: 1000,
      free: 400,
      files: this.nodes.size,
      filesFree: 77,
      blockSize: 4096,
      nameMax: 255,
    }
  }

  destroy(): void {
    this.isDestroyed = true
  }

  #note(method: string): void {
    if (this.isCounting) this.asked.push(method)
  }

  #get(nodeid: number): MemoryNode {
    const node = this.nodes.get(nodeid)
    if (node === undefined) throw new FsError('ESTALE')
    return node
  }

  #make(mode: number, { uid, gid }: KernelCaller): MemoryNode {
    const time = nowTime()
    const node: MemoryNode = {
      nodeid: ++this.#last,
      mode,
      uid,
      gid,
      rdev: 0,
      nlink: 1,
      data: new Uint8Array(0),
      size: 0,
      atime: time,
      mtime: time,
      ctime: time,
      children: new Map(),
      xattrs: new Map(),
      lookups: 0,
    }
    this.nodes.set(node.nodeid, node)
    return node
  }

  #enter(parent: number, name: ByteString, node: MemoryNode): Entry {
    const directory = this.#get(parent)
    if (directory.children.has(name)) throw new FsError('EEXIST')
    directory.children.set(name, node)
    directory.mtime = directory.ctime = nowTime()
    return this.#entry(node)
  }

  #entry(node: MemoryNode): Entry {
    node.lookups++
    return { nodeid: node.nodeid, attributes: attributesOf(node), ttl: this.ttl }
  }

  #dropIfUnused(node: MemoryNode): void {
    if (node.nlink === 0 && node.lookups <= 0) this.nodes.delete(node.nodeid)
  }
}

function attributesOf(node: MemoryNode): Attributes {
  const { nodeid, mode, nlink, uid, gid, rdev, size, atime, mtime, ctime } = node
  const blocks = Math.ceil(size / 512)
  return { ino: nodeid, mode, nlink, uid, gid, rdev, size, blocks, atime, mtime, ctime }
}

function resize(node: MemoryNode, size: number): void {
  if (size > node.data.length) {
    const grown = new Uint8Array(Math.max(size, node.data.length * 2))
    grown.set(node.data.subarray(0, node.size))
    node.data = grown
  } else if (size < node.size) {
    node.data.fill(0, size, node.size)
  }
  node.size = size
}
