import type {
  CopyOp,
  CreateOp,
  Data,
  FallocateOp,
  LinkOp,
  Op,
  RenameOp,
  SetattrOp,
  SetxattrOp,
  WriteOp,
} from '@cairn/core'
import { type Errno, FsError, type Hash, type Ino, rootIno } from '@cairn/protocol'
import {
  attach,
  changeAt,
  childOf,
  detach,
  isInside,
  makeInode,
  type ModelInode,
  type ModelName,
  modify,
  requireEmpty,
  requireFree,
  requireName,
  requireReplaceable,
} from './model-inode.ts'

const fileBytesMax = 2 ** 44
const xattrBytesMax = 65_536

/** A file system so plain that one can see it is right. Slow: whatever can be counted is counted anew. */
export class Model {
  readonly inodes: Map<Ino, ModelInode> = new Map()
  /** What was stored as blobs. Only ever grows, so copies share it. */
  readonly #blobs: ReadonlyMap<Hash, Uint8Array>

  constructor(blobs: ReadonlyMap<Hash, Uint8Array>) {
    this.#blobs = blobs
    const time = { sec: 0, nsec: 0 }
    const owner = { mode: 0o755, uid: 0, gid: 0, rdev: 0 }
    this.inodes.set(rootIno, makeInode({ ino: rootIno, kind: 'directory', ...owner, time }))
  }

  get root(): ModelInode {
    return this.inodes.get(rootIno)!
  }

  /** All operations or none; the errno of the first that fails. */
  apply(ops: readonly Op[]): Errno | undefined {
    const before = this.clone()
    try {
      for (const op of ops) this.#applyOne(op)
      return undefined
    } catch (error) {
      if (!(error instanceof FsError)) throw error
      this.replaceBy(before)
      return error.code
    }
  }

  clone(): Model {
    const copy = new Model(this.#blobs)
    copy.replaceBy(this)
    return copy
  }

  /** Becomes a deep copy of another one. */
  replaceBy(other: Model): void {
    const copies = new Map<ModelInode, ModelInode>()
    for (const inode of other.inodes.values())
      copies.set(inode, {
        ...inode,
        xattrs: new Map(inode.xattrs),
        children: new Map(),
        bytes: inode.bytes.clone(),
      })
    this.inodes.clear()
    for (const [inode, copy] of copies) {
      this.inodes.set(copy.ino, copy)
      for (const [name, child] of inode.children) copy.children.set(name, copies.get(child)!)
    }
  }

  /** Every name there is, by what it leads to. */
  names(): ReadonlyMap<ModelInode, readonly ModelName[]> {
    const names = new Map<ModelInode, ModelName[]>()
    for (const inode of this.inodes.values()) names.set(inode, [])
    for (const directory of this.inodes.values())
      for (const [name, child] of directory.children) names.get(child)!.push({ directory, name })
    return names
  }

  #applyOne(op: Op): void {
    switch (op.type) {
      case 'create':
        return this.#create(op)
      case 'link':
        return this.#link(op)
      case 'unlink': {
        const directory = this.#directory(op.parent)
        const inode = childOf(directory, op.name)
        if (inode.kind === 'directory') throw new FsError('EISDIR')
        return detach(directory, op.name, op.time)
      }
      case 'rmdir': {
        const directory = this.#directory(op.parent)
        requireEmpty(childOf(directory, op.name))
        return detach(directory, op.name, op.time)
      }
      case 'rename':
        return this.#rename(op)
      case 'setattr':
        return this.#setattr(op)
      case 'write':
        return this.#write(op)
      case 'append':
        return this.#write({ ...op, type: 'write', offset: this.#file(op.ino).length })
      case 'fallocate':
        return this.#fallocate(op)
      case 'copy':
        return this.#copy(op)
      case 'setxattr':
        return this.#setxattr(op)
      case 'removexattr': {
        const inode = this.#inode(op.ino)
        if (!inode.xattrs.delete(op.name)) throw new FsError('ENODATA')
        changeAt(inode, op.time)
        return
      }
      case 'reap':
        if (this.#hasName(this.#inode(op.ino))) throw new FsError('EBUSY')
        this.inodes.delete(op.ino)
    }
  }

  #create(op: CreateOp): void {
    const directory = this.#directory(op.parent)
    requireFree(directory, op.name)
    if (this.inodes.has(op.ino)) throw new FsError('ESTALE')
    if ((op.kind === 'symlink') !== (op.target !== undefined)) throw new FsError('EINVAL')
    if (op.target?.length === 0) throw new FsError('ENOENT')
    if (op.target && op.target.length > 4095) throw new FsError('ENAMETOOLONG')
    const inode = makeInode(op)
    this.inodes.set(op.ino, inode)
    attach(directory, op.name, inode, op.time)
  }

  #link(op: LinkOp): void {
    const directory = this.#directory(op.parent)
    requireFree(directory, op.name)
    const inode = this.#inode(op.ino)
    if (inode.kind === 'directory') throw new FsError('EPERM')
    if (!this.#hasName(inode)) throw new FsError('ENOENT')
    attach(directory, op.name, inode, op.time)
  }

  #rename(op: RenameOp): void {
    requireName(op.newName)
    const from = this.#directory(op.parent)
    const to = this.#directory(op.newParent)
    const source = childOf(from, op.name)
    const target = to.children.get(op.newName)
    if (target && op.mode === 'noreplace') throw new FsError('EEXIST')
    if (!target && op.mode === 'exchange') throw new FsError('ENOENT')
    if (isInside(to, source)) throw new FsError('EINVAL')
    if (target && isInside(from, target))
      throw new FsError(op.mode === 'exchange' ? 'EINVAL' : 'ENOTEMPTY')
    if (source === target) return
    if (target && op.mode === 'exchange') {
      attach(from, op.name, target, op.time)
      attach(to, op.newName, source, op.time)
      return
    }
    if (target) requireReplaceable(source, target)
    if (target) detach(to, op.newName, op.time)
    detach(from, op.name, op.time)
    attach(to, op.newName, source, op.time)
  }

  #setattr(op: SetattrOp): void {
    const inode = op.size === undefined ? this.#inode(op.ino) : this.#file(op.ino)
    if (op.size !== undefined) {
      if (op.size > fileBytesMax) throw new FsError('EFBIG')
      inode.bytes.clear(op.size, Infinity)
      inode.length = op.size
      inode.mtime = op.time
    }
    inode.mode = (op.mode ?? inode.mode) & 0o7777
    inode.uid = op.uid ?? inode.uid
    inode.gid = op.gid ?? inode.gid
    inode.atime = op.atime ?? inode.atime
    inode.mtime = op.mtime ?? inode.mtime
    changeAt(inode, op.time)
  }

  #write(op: WriteOp): void {
    const file = this.#file(op.ino)
    const bytes = this.#bytesOf(op.data)
    requireRange(op.offset, bytes.length)
    if (bytes.length === 0) return
    file.bytes.write(op.offset, bytes)
    file.length = Math.max(file.length, op.offset + bytes.length)
    modify(file, op)
  }

  #fallocate(op: FallocateOp): void {
    const file = this.#file(op.ino)
    if (op.length === 0) throw new FsError('EINVAL')
    requireRange(op.offset, op.length)
    const end = op.offset + op.length
    if (op.mode === 'allocate' || op.mode === 'zero') file.length = Math.max(file.length, end)
    if (op.mode !== 'allocate' && op.mode !== 'allocate-keep-size') file.bytes.clear(op.offset, end)
    modify(file, op)
  }

  #copy(op: CopyOp): void {
    const from = this.#file(op.from)
    const to = this.#file(op.ino)
    const length = Math.max(0, Math.min(op.length, from.length - op.fromOffset))
    requireRange(op.fromOffset, length)
    requireRange(op.offset, length)
    if (length === 0) return
    const distance = Math.abs(op.fromOffset - op.offset)
    if (from === to && distance < length) throw new FsError('EINVAL')
    const source = from.bytes.clone()
    to.bytes.clear(op.offset, op.offset + length)
    for (const range of source.ranges()) {
      const start = Math.max(range.start, op.fromOffset)
      const end = Math.min(range.end, op.fromOffset + length)
      if (start < end) to.bytes.write(start - op.fromOffset + op.offset, source.read(start, end))
    }
    to.length = Math.max(to.length, op.offset + length)
    modify(to, op)
  }

  #setxattr(op: SetxattrOp): void {
    const inode = this.#inode(op.ino)
    const present = inode.xattrs.has(op.name)
    if (op.name === '' || op.name.length > 255) throw new FsError('ERANGE')
    if (op.value.length > xattrBytesMax) throw new FsError('E2BIG')
    if (op.mode === 'create' && present) throw new FsError('EEXIST')
    if (op.mode === 'replace' && !present) throw new FsError('ENODATA')
    inode.xattrs.set(op.name, op.value)
    let bytes = 0
    for (const [name, value] of inode.xattrs) bytes += name.length + value.length
    if (bytes > xattrBytesMax) throw new FsError('ENOSPC')
    changeAt(inode, op.time)
  }

  #bytesOf(data: Data): Uint8Array {
    if (data.type === 'bytes') return data.bytes
    return this.#blobs.get(data.id)!.subarray(data.start, data.start + data.length)
  }

  #inode(ino: Ino): ModelInode {
    const inode = this.inodes.get(ino)
    if (!inode) throw new FsError('ESTALE')
    return inode
  }

  #file(ino: Ino): ModelInode {
    const inode = this.#inode(ino)
    if (inode.kind === 'directory') throw new FsError('EISDIR')
    if (inode.kind !== 'file') throw new FsError('EINVAL')
    return inode
  }

  #directory(ino: Ino): ModelInode {
    const inode = this.#inode(ino)
    if (inode.kind !== 'directory') throw new FsError('ENOTDIR')
    if (!this.#hasName(inode)) throw new FsError('ENOENT')
    return inode
  }

  #hasName(inode: ModelInode): boolean {
    return inode === this.root || this.names().get(inode)!.length > 0
  }
}

function requireRange(offset: number, length: number): void {
  if (offset + length > fileBytesMax) throw new FsError('EFBIG')
}
