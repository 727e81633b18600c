import { attributeCalls, dataCalls, pathCalls } from '@cairn/core'
import { FsError } from '@cairn/protocol'
import type { DirectoryEntry, Path, Stat, TimeChange } from '../subject.ts'
import { isOpenFor } from './descriptors.ts'
import { listEntries } from './list-entries.ts'
import { copyRange, readBytes, seek, writeBytes } from './open-files.ts'
import type { Thread } from './thread.ts'
import {
  fallocateMode,
  openOptions,
  ownerChange,
  pathBytes,
  statOf,
  timeChange,
  xattrMode,
} from './translate.ts'

/** Calls that give out a descriptor or take one. */
export class DescriptorCalls {
  protected readonly thread: Thread

  constructor(thread: Thread) {
    this.thread = thread
  }

  async open(path: Path, flags: number, mode = 0o666): Promise<number> {
    const options = openOptions(flags, mode & ~this.thread.process.umask)
    const { workspace, descriptors } = this.thread
    const { ino, op } = await this.thread.look((call) =>
      pathCalls.open(call, pathBytes(path), options),
    )
    if (op) await workspace.submit([op])
    return descriptors.add(ino, flags)
  }

  async close(fd: number): Promise<void> {
    await this.thread.reap(this.thread.descriptors.remove(fd).ino)
  }

  async read(fd: number, length: number): Promise<Uint8Array> {
    const descriptor = this.thread.descriptors.get(fd, 'reading')
    const bytes = await readBytes(this.thread, descriptor.ino, descriptor.offset, length)
    descriptor.offset += bytes.length
    return bytes
  }

  async pread(fd: number, length: number, offset: number): Promise<Uint8Array> {
    if (offset < 0) throw new FsError('EINVAL')
    const { ino } = this.thread.descriptors.get(fd, 'reading')
    return readBytes(this.thread, ino, offset, length)
  }

  async write(fd: number, bytes: Uint8Array): Promise<number> {
    const descriptor = this.thread.descriptors.get(fd, 'writing')
    descriptor.offset = await writeBytes(this.thread, descriptor, descriptor.offset, bytes)
    return bytes.length
  }

  async pwrite(fd: number, bytes: Uint8Array, offset: number): Promise<number> {
    if (offset < 0) throw new FsError('EINVAL')
    await writeBytes(this.thread, this.thread.descriptors.get(fd, 'writing'), offset, bytes)
    return bytes.length
  }

  async lseek(fd: number, offset: number, whence: number): Promise<number> {
    const descriptor = this.thread.descriptors.get(fd)
    descriptor.offset = await this.thread.look(({ view }) => seek(view, descriptor, offset, whence))
    descriptor.listed = descriptor.places[descriptor.offset - 1]
    return descriptor.offset
  }

  async ftruncate(fd: number, length: number): Promise<void> {
    if (length < 0) throw new FsError('EINVAL')
    if (!isOpenFor(this.thread.descriptors.get(fd), 'writing')) throw new FsError('EINVAL')
    await this.thread.changeOpen(fd, (call, ino) => dataCalls.truncateOpen(call, ino, length))
  }

  async fallocate(fd: number, mode: number, offset: number, length: number): Promise<void> {
    if (offset < 0 || length <= 0) throw new FsError('EINVAL')
    const how = fallocateMode(mode)
    const { ino } = this.thread.descriptors.get(fd, 'writing')
    await this.thread.change((call) => dataCalls.fallocate(call, ino, how, offset, length))
  }

  async copyFileRange(
    fdIn: number,
    offsetIn: number | null,
    fdOut: number,
    offsetOut: number | null,
    length: number,
  ): Promise<number> {
    const from = this.thread.descriptors.get(fdIn)
    const to = this.thread.descriptors.get(fdOut)
    const start = offsetIn ?? from.offset
    const target = offsetOut ?? to.offset
    const copied = await copyRange(this.thread, from, start, to, target, length)
    if (offsetIn === null) from.offset += copied
    if (offsetOut === null) to.offset += copied
    return copied
  }

  async fstat(fd: number): Promise<Stat> {
    const { ino } = this.thread.descriptors.find(fd)
    return statOf(ino, await this.thread.inode(ino))
  }

  async fchmod(fd: number, mode: number): Promise<void> {
    await this.thread.changeOpen(fd, (call, ino) => attributeCalls.chmod(call, ino, mode))
  }

  async fchown(fd: number, uid: number, gid: number): Promise<void> {
    await this.thread.changeOpen(fd, (call, ino) =>
      attributeCalls.chown(call, ino, ownerChange(uid), ownerChange(gid)),
    )
  }

  async futimens(fd: number, atime: TimeChange, mtime: TimeChange): Promise<void> {
    await this.thread.changeOpen(fd, (call, ino) =>
      attributeCalls.utimens(call, ino, timeChange(atime), timeChange(mtime)),
    )
  }

  async getdents(fd: number, bufferBytes: number): Promise<readonly DirectoryEntry[]> {
    const descriptor = this.thread.descriptors.get(fd)
    return this.thread.look(({ view }) => listEntries(view, descriptor, bufferBytes))
  }

  async fgetxattr(fd: number, name: string): Promise<Uint8Array> {
    const { ino } = this.thread.descriptors.get(fd)
    return this.thread.look((call) => attributeCalls.getxattr(call, ino, pathBytes(name)))
  }

  async fsetxattr(fd: number, name: string, value: Uint8Array, flags = 0): Promise<void> {
    const mode = xattrMode(flags)
    await this.thread.changeOpen(fd, (call, ino) =>
      attributeCalls.setxattr(call, ino, pathBytes(name), value.slice(), mode),
    )
  }
}
