import {
  allocatedBytes,
  attributeCalls,
  copyLength,
  type CreateOp,
  type Inode,
  type Op,
} from '@cairn/core'
import {
  type ByteString,
  FsError,
  type Ino,
  isFsError,
  type Name,
  parseName,
} from '@cairn/protocol'
import { classAttribute } from '../classes/classes.ts'
import type {
  Answer,
  AttributeChange,
  KernelCaller,
  Entry,
  FileSystemStatistics,
  FillListing,
  FuseFileSystem,
} from '../fuse/file-system.ts'
import { andThen, whenLoaded } from './answers.ts'
import { dropMisplaced, dropRead } from '../sync/append.ts'
import { inherited, kindOf } from '../kernel/attributes.ts'
import {
  callOf,
  fallocateModeOf,
  openFlags,
  privilegeDropOf,
  renameModeOf,
  requireNamespace,
  setattrOp,
  xattrModeOf,
} from './calls.ts'
import { list } from './list.ts'
import type { MountedParts } from './mounted-parts.ts'
import type { Attributed } from '../kernel/nodes.ts'
import { seek, seekHole } from './seek.ts'

/** What the kernel checked is not checked again: with several users in the mount it does so itself. */
export class MountedFileSystem implements FuseFileSystem {
  /** Set where closing a file waits for the server. Without it the kernel need not ask at each close. */
  readonly flush?: (nodeid: number) => Answer<void>
  readonly getlk?: NonNullable<FuseFileSystem['getlk']>
  readonly setlk?: NonNullable<FuseFileSystem['setlk']>
  readonly #parts: MountedParts

  constructor(parts: MountedParts) {
    this.#parts = parts
    const { locks, nodes, waits } = parts
    if (waits === 'close') this.flush = (nodeid) => this.fsync(nodeid)
    if (!locks) return
    this.getlk = (nodeid, lock) => locks.getlk(nodes.inoOf(nodeid), lock)
    this.setlk = (nodeid, ...how) => locks.setlk(nodes.inoOf(nodeid), ...how)
  }

  lookup(parent: number, name: ByteString): Answer<Entry | undefined> {
    const { blocks, contested, image, loader, nodes, sharing } = this.#parts
    return whenLoaded(loader, () => {
      const directory = this.#directory(parent)
      sharing.requireFresh(directory)
      const dentry = image.child(directory, parseName(name))
      if (!dentry) {
        // An absent name is remembered, an error is not.
        if (contested.has(directory)) throw new FsError('ENOENT')
        image.noteAbsent(directory, name as Name)
        return undefined
      }
      if (dentry.kind === 'directory') sharing.requireFresh(dentry.ino)
      return nodes.entry(blocks.counted(dentry.ino))
    })
  }

  forget(nodeid: number, count: number): void {
    this.#parts.nodes.forget(nodeid, count)
  }

  getattr(nodeid: number): Answer<Attributed> {
    const { blocks, loader, nodes } = this.#parts
    return whenLoaded(loader, () => nodes.attributed(blocks.counted(this.#fresh(nodeid))))
  }

  setattr(nodeid: number, change: AttributeChange, caller: KernelCaller): Answer<Attributed> {
    const { loader, nodes, now, owners } = this.#parts
    const ino = nodes.ino(nodeid)
    const { mode, size, atime, mtime, killPrivileges } = change
    const uid = change.uid === undefined ? undefined : owners.uid(change.uid)
    const gid = change.gid === undefined ? undefined : owners.gid(change.gid)
    const kept = { mode, uid, gid, size, atime, mtime, killPrivileges }
    const who = this.#who(caller)
    const done = this.#change(caller, () => setattrOp(ino, nodes.inode(ino), kept, who, now()))
    // By its inode: it was done, even if the file has been replaced meanwhile.
    return andThen(done, () => whenLoaded(loader, () => nodes.attributed(ino)))
  }

  readlink(nodeid: number): Answer<Uint8Array> {
    const { loader, nodes } = this.#parts
    return whenLoaded(loader, () => {
      const { target } = nodes.inode(this.#fresh(nodeid))
      if (!target) throw new FsError('EINVAL')
      return target
    })
  }

  mknod(
    parent: number,
    name: ByteString,
    mode: number,
    rdev: number,
    caller: KernelCaller,
  ): Answer<Entry> {
    const kind = kindOf(mode)
    if (kind === undefined || kind === 'directory' || kind === 'symlink')
      throw new FsError('EINVAL')
    return this.#make(parent, name, { kind, mode, rdev, target: undefined }, caller, true)
  }

  mkdir(parent: number, name: ByteString, mode: number, caller: KernelCaller): Answer<Entry> {
    const directory = { kind: 'directory', mode, rdev: 0, target: undefined } as const
    return this.#make(parent, name, directory, caller, true)
  }

  symlink(
    parent: number,
    name: ByteString,
    target: Uint8Array,
    caller: KernelCaller,
  ): Answer<Entry> {
    const copy = target.slice()
    const link = { kind: 'symlink', mode: 0o777, rdev: 0, target: copy } as const
    return this.#make(parent, name, link, caller, true)
  }

  create(
    parent: number,
    name: ByteString,
    mode: number,
    flags: number,
    caller: KernelCaller,
  ): Answer<Entry> {
    const file = { kind: 'file', mode, rdev: 0, target: undefined } as const
    const isExclusive = (flags & openFlags.exclusive) !== 0
    const made = this.#make(parent, name, file, caller, isExclusive)
    if (isExclusive || !(made instanceof Promise)) return made
    return made.catch((error) => this.#lookAgain(parent, error))
  }

  /** Another mount was quicker to make it. On ESTALE the kernel looks anew, once, and opens what it finds. */
  #lookAgain(parent: number, error: unknown): never {
    const { image, writer } = this.#parts
    if (!isFsError(error, 'EEXIST') || writer.decides(this.#directory(parent))) throw error
    image.drop(this.#directory(parent))
    throw new FsError('ESTALE')
  }

  link(nodeid: number, parent: number, name: ByteString, caller: KernelCaller): Answer<Entry> {
    const { nodes, now } = this.#parts
    const ino = nodes.ino(nodeid)
    const to = { parent: this.#directory(parent), name: parseName(name) }
    const done = this.#change(caller, () => {
      this.#requireOneWinner()
      return { type: 'link', time: now(), ino, ...to }
    })
    return andThen(done, () => this.#entry(ino))
  }

  unlink(parent: number, name: ByteString, caller: KernelCaller): Answer<void> {
    const { now } = this.#parts
    const from = { parent: this.#directory(parent), name: name as Name }
    return this.#change(caller, () => ({ type: 'unlink', time: now(), ...from }))
  }

  rmdir(parent: number, name: ByteString, caller: KernelCaller): Answer<void> {
    const { now } = this.#parts
    const from = { parent: this.#directory(parent), name: name as Name }
    return this.#change(caller, () => ({ type: 'rmdir', time: now(), ...from }))
  }

  rename(
    parent: number,
    name: ByteString,
    newParent: number,
    newName: ByteString,
    flags: number,
    caller: KernelCaller,
  ): Answer<void> {
    const { now } = this.#parts
    const mode = renameModeOf(flags)
    const from = { parent: this.#directory(parent), name: name as Name }
    const to = { newParent: this.#directory(newParent), newName: parseName(newName) }
    return this.#change(caller, () => {
      if (mode === 'noreplace') this.#requireOneWinner()
      return { type: 'rename', time: now(), ...from, ...to, mode }
    })
  }

  read(nodeid: number, offset: number, size: number): Answer<Uint8Array> {
    const { contents, loader } = this.#parts
    return whenLoaded(loader, () => {
      const ino = this.#fresh(nodeid)
      const file = this.#file(ino)
      const end = Math.min(offset + size, file.size)
      return end <= offset ? nothing : contents.read(ino, file, offset, end)
    })
  }

  write(
    nodeid: number,
    offset: number,
    data: Uint8Array,
    flags: number,
    killPrivileges: boolean,
    caller: KernelCaller,
  ): Answer<number> {
    const { nodes, now, writer } = this.#parts
    const ino = nodes.ino(nodeid)
    // The request's buffer is the next request's, too. What is acknowledged at once is copied to the spool before that.
    let bytes = writer.isLeaseHeld ? data : data.slice()
    const { length } = data
    const who = this.#who(caller)
    const isAppend = (flags & openFlags.append) !== 0
    let end: number | undefined
    const done = this.#change(caller, () => {
      const dropPrivileges = killPrivileges && privilegeDropOf(nodes.inode(ino), who)
      const time = now()
      const written = { type: 'bytes', bytes } as const
      if (!isAppend) return { type: 'write', time, ino, offset, data: written, dropPrivileges }
      end = writer.decides(ino) ? nodes.inode(ino).size : undefined
      return { type: 'append', time, ino, data: written, dropPrivileges }
    })
    if (done instanceof Promise && bytes === data) bytes = data.slice()
    let written = andThen(done, () => this.#dropCapability(ino, caller))
    written = andThen(written, () => {
      if (isAppend && end !== offset) return dropMisplaced(this.#parts, { ino, offset, length })
      if (done instanceof Promise) return dropRead(this.#parts, { ino, offset, length })
    })
    if ((flags & openFlags.sync) !== 0) written = andThen(written, () => writer.sync())
    return andThen(written, () => length)
  }

  /** What a program may do does not survive a change of it. Of writes past its pages the kernel leaves that to us. */
  #dropCapability(ino: Ino, caller: KernelCaller): Answer<void> {
    const { image } = this.#parts
    if (image.knows(ino) && image.inode(ino)!.xattrs?.has(capability))
      return this.#removexattr(ino, capability, { ...caller, request: 0, resent: false })
  }

  async fsync(nodeid: number): Promise<void> {
    const { nodes, waits, writer } = this.#parts
    if (waits !== 'nothing') await writer.syncFile(nodes.inoOf(nodeid))
  }

  fsyncdir(nodeid: number): Promise<void> {
    return this.fsync(nodeid)
  }

  fallocate(
    nodeid: number,
    offset: number,
    length: number,
    flags: number,
    caller: KernelCaller,
  ): Answer<void> {
    const { nodes, now } = this.#parts
    const range = { ino: nodes.ino(nodeid), offset, length, mode: fallocateModeOf(flags) }
    const who = this.#who(caller)
    return this.#change(caller, () => {
      const dropPrivileges = privilegeDropOf(nodes.inode(range.ino), who)
      return { type: 'fallocate', time: now(), ...range, dropPrivileges }
    })
  }

  copyFileRange(
    from: number,
    fromOffset: number,
    to: number,
    offset: number,
    length: number,
    caller: KernelCaller,
  ): Answer<number> {
    const { loader, nodes, now } = this.#parts
    const who = this.#who(caller)
    const range = { from: nodes.ino(from), fromOffset, ino: nodes.ino(to), offset, length }
    const measure = (): number => copyLength(nodes.inode(range.from), range)
    let copied: number | undefined
    const done = this.#change(caller, () => {
      copied = measure()
      const dropPrivileges = privilegeDropOf(nodes.inode(range.ino), who)
      return { type: 'copy', time: now(), ...range, dropPrivileges }
    })
    return andThen(done, () => copied ?? whenLoaded(loader, measure))
  }

  lseek(nodeid: number, offset: number, whence: number): Answer<number> {
    const { contents, loader, writer, askSeek } = this.#parts
    return whenLoaded(loader, () => {
      const ino = this.#fresh(nodeid)
      const file = this.#file(ino)
      const ranges = contents.of(ino, file)
      // Without holes there is nothing to find; with them, only the server knows where they are.
      const hasHoles = allocatedBytes(file.content!) < file.size
      if (hasHoles && offset < file.size && ranges.isElsewhere(offset, file.size))
        return writer.whenSent(ino).then(() => askSeek(ino, offset, whence === seekHole))
      return seek(ranges, file.size, offset, whence)
    })
  }

  getxattr(nodeid: number, name: ByteString): Answer<Uint8Array | undefined> {
    const { loader, nodes, classes } = this.#parts
    return whenLoaded(loader, () => {
      requireNamespace(name)
      if (name === classAttribute) return classes.attributeOf(this.#fresh(nodeid))
      return nodes.inode(this.#fresh(nodeid)).xattrs?.get(name)
    })
  }

  listxattr(nodeid: number, { uid, gid }: KernelCaller): Answer<readonly ByteString[]> {
    const { image, loader, now } = this.#parts
    const call = callOf(image, now(), uid, gid)
    return whenLoaded(loader, () => attributeCalls.listxattr(call, this.#fresh(nodeid)))
  }

  setxattr(
    nodeid: number,
    name: ByteString,
    value: Uint8Array,
    flags: number,
    caller: KernelCaller,
  ): Answer<void> {
    const { image, nodes, now } = this.#parts
    const ino = nodes.ino(nodeid)
    if (name === classAttribute) throw new FsError('EPERM')
    const mode = xattrModeOf(flags)
    const copy = value.slice()
    return this.#change(caller, () =>
      attributeCalls.setxattr(callOf(image, now()), ino, name, copy, mode),
    )
  }

  removexattr(nodeid: number, name: ByteString, caller: KernelCaller): Answer<void> {
    return this.#removexattr(this.#parts.nodes.ino(nodeid), name, caller)
  }

  #removexattr(ino: Ino, name: ByteString, caller: KernelCaller): Answer<void> {
    const { image, now } = this.#parts
    return this.#change(caller, () => attributeCalls.removexattr(callOf(image, now()), ino, name))
  }

  readdir(nodeid: number, offset: number, fill: FillListing): Answer<void> {
    return list(this.#parts, this.#directory(nodeid), offset, fill)
  }

  dots(nodeid: number): { readonly self: number; readonly parent: number } {
    const { image, nodes } = this.#parts
    const self = nodes.ino(nodeid)
    const isTop = self === nodes.root || !image.knows(self)
    return { self, parent: isTop ? self : (image.inode(self)!.home?.parent ?? self) }
  }

  statfs(): FileSystemStatistics {
    return this.#parts.room.statistics
  }

  destroy(): void {}

  #change(caller: KernelCaller, make: () => Op): Answer<void> {
    if (caller.resent) return this.#changeAgain(caller, make).then(() => undefined)
    const { loader, writer, toolCalls } = this.#parts
    return andThen(toolCalls.causeOf(caller), (cause) =>
      whenLoaded(loader, () => writer.change(make, cause)),
    )
  }

  /** The kernel asks again for what a dead daemon did not answer. Gives what that one did, if it did. */
  async #changeAgain(caller: KernelCaller, make: () => Op): Promise<Op | void> {
    const { loader, writer, findDone, toolCalls } = this.#parts
    const cause = await toolCalls.causeOf(caller)
    return (await findDone(cause.request)) ?? whenLoaded(loader, () => writer.change(make, cause))
  }

  #make(
    node: number,
    bytes: ByteString,
    file: Pick<CreateOp, 'kind' | 'mode' | 'rdev' | 'target'>,
    caller: KernelCaller,
    isExclusive: boolean,
  ): Answer<Entry> {
    const { nodes, numbers, now, owners } = this.#parts
    const parent = this.#directory(node)
    const name = parseName(bytes)
    const ino = numbers.next()
    if (ino === undefined)
      return numbers.refill().then(() => this.#make(node, bytes, file, { ...caller }, isExclusive))
    const uid = owners.uid(caller.uid)
    const make = (): Op => {
      if (isExclusive) this.#requireOneWinner()
      const { mode, gid } = inherited(nodes.inode(parent), file, owners.gid(caller.gid))
      const { kind, rdev, target } = file
      const time = now()
      return { type: 'create', time, parent, name, ino, kind, mode, uid, gid, rdev, target }
    }
    if (!caller.resent) return andThen(this.#change(caller, make), () => this.#entry(ino))
    return this.#changeAgain(caller, make).then((before) =>
      this.#entry(before?.type === 'create' ? before.ino : ino),
    )
  }

  /** As the workspace knows them, but for root, who is root of the machine. */
  #who({ uid, gid, pid, request, resent }: KernelCaller): KernelCaller {
    return { uid, gid: this.#parts.owners.gid(gid), pid, request, resent }
  }

  #entry(ino: Ino): Answer<Entry> {
    const { loader, nodes } = this.#parts
    return whenLoaded(loader, () => nodes.entry(ino))
  }

  /** Throws OutOfContact where another client may win the same name and hear so, too. */
  #requireOneWinner(): void {
    const { contact, writer } = this.#parts
    if (writer.isLeaseHeld) contact.require()
  }

  #directory(nodeid: number): Ino {
    return this.#parts.nodes.ino(nodeid)
  }

  /** Throws ImageMiss where others may have changed what is known of it. */
  #fresh(nodeid: number): Ino {
    const { nodes, sharing } = this.#parts
    const ino = nodes.ino(nodeid)
    sharing.requireFresh(ino)
    return ino
  }

  #file(ino: Ino): Inode {
    const inode = this.#parts.nodes.inode(ino)
    if (inode.kind === 'directory') throw new FsError('EISDIR')
    if (inode.kind !== 'file') throw new FsError('EINVAL')
    return inode
  }
}

const capability = 'security.capability' as ByteString
const nothing = new Uint8Array()
