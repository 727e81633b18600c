import {
  attributeCalls,
  type Credentials,
  dataCalls,
  largestFileBytes,
  type nameCalls,
  pathCalls,
} from '@cairn/core'
import { FsError, fromByteString, type Ino, nameBytesMax } from '@cairn/protocol'
import { O_DIRECTORY, O_RDONLY } from '../constants.ts'
import type {
  Device,
  DirectoryEntry,
  FileSystemStat,
  Path,
  Stat,
  Subject,
  TimeChange,
} from '../subject.ts'
import type { SubjectSetup } from '../suite.ts'
import { DescriptorCalls } from './descriptor-calls.ts'
import { Descriptors } from './descriptors.ts'
import { Thread } from './thread.ts'
import {
  deviceNumber,
  kindToMake,
  ownerChange,
  pathBytes,
  renameMode,
  statOf,
  timeChange,
  xattrMode,
} from './translate.ts'
import { type Habits, Workspace } from './workspace.ts'

const ROOT: Credentials = { uid: 0, gid: 0, groups: [] }
const BLOCK_BYTES = 4096
const XATTR_BYTES_MAX = 65_536

/** Subjects that are a branch in memory and, around it, what a process has: descriptors, umask, a clock. */
export function coreSubjects(habits: Habits): SubjectSetup {
  return async () => {
    const workspace = await Workspace.create(habits)
    const descriptors = new Descriptors()
    const process = { workspace, descriptors, umask: 0o022 }
    const subject = new CoreSubject(new Thread(process, ROOT))
    const dispose = async (): Promise<void> => {
      for (const fd of descriptors.numbers) await subject.close(fd)
      await workspace.check()
    }
    return { subject, dispose }
  }
}

/** Checks what a system call checks before it reaches a file system; the core answers the rest. */
class CoreSubject extends DescriptorCalls implements Subject {
  get credentials(): Credentials {
    return this.thread.who
  }

  as(credentials: Credentials): Subject {
    return new CoreSubject(new Thread(this.thread.process, credentials))
  }

  async nextInstant(): Promise<void> {
    this.thread.workspace.nextInstant()
  }

  async umask(mask: number): Promise<number> {
    const before = this.thread.process.umask
    this.thread.process.umask = mask
    return before
  }

  async truncate(path: Path, length: number): Promise<void> {
    if (length < 0) throw new FsError('EINVAL')
    await this.thread.changeAt(path, true, (call, ino) => dataCalls.truncate(call, ino, length))
  }

  stat(path: Path): Promise<Stat> {
    return this.#stat(path, true)
  }

  lstat(path: Path): Promise<Stat> {
    return this.#stat(path, false)
  }

  async #stat(path: Path, follow: boolean): Promise<Stat> {
    const ino = await this.thread.find(path, follow)
    return statOf(ino, await this.thread.inode(ino))
  }

  async statfs(path: Path): Promise<FileSystemStat> {
    await this.thread.find(path, true)
    const { bytes } = await this.thread.workspace.totals()
    // How much there may be is for a server to say; here it is as much as one file may hold.
    const blocks = largestFileBytes / BLOCK_BYTES
    const free = blocks - Math.ceil(bytes / BLOCK_BYTES)
    return {
      blockBytes: BLOCK_BYTES,
      blocks,
      blocksFree: free,
      blocksAvailable: free,
      nameBytesMax,
    }
  }

  mkdir(path: Path, mode = 0o777): Promise<void> {
    return this.#make(path, { kind: 'directory', mode: mode & ~this.thread.process.umask })
  }

  symlink(target: Path, path: Path): Promise<void> {
    return this.#make(path, {
      kind: 'symlink',
      mode: 0o777,
      target: fromByteString(pathBytes(target)),
    })
  }

  async mknod(path: Path, mode: number, device: Device = { major: 0, minor: 0 }): Promise<void> {
    const kind = kindToMake(mode)
    const permissions = mode & 0o7777 & ~this.thread.process.umask
    await this.#make(path, { kind, mode: permissions, rdev: deviceNumber(device) })
  }

  async #make(path: Path, file: nameCalls.NewFile): Promise<void> {
    await this.thread.change((call) => pathCalls.create(call, pathBytes(path), file))
  }

  async link(existing: Path, path: Path): Promise<void> {
    await this.thread.change((call) => pathCalls.link(call, pathBytes(existing), pathBytes(path)))
  }

  async unlink(path: Path): Promise<void> {
    await this.thread.takeAway((call) => {
      const op = pathCalls.unlink(call, pathBytes(path))
      return { op, ino: call.view.child(op.parent, op.name)?.ino }
    })
  }

  async rmdir(path: Path): Promise<void> {
    await this.thread.takeAway((call) => {
      const op = pathCalls.rmdir(call, pathBytes(path))
      return { op, ino: call.view.child(op.parent, op.name)?.ino }
    })
  }

  async rename(from: Path, to: Path, flags = 0): Promise<void> {
    const mode = renameMode(flags)
    await this.thread.takeAway((call) => {
      const op = pathCalls.rename(call, pathBytes(from), pathBytes(to), mode)
      return { op, ino: call.view.child(op.newParent, op.newName)?.ino }
    })
  }

  async readlink(path: Path): Promise<Uint8Array> {
    const { target } = await this.thread.inode(await this.thread.find(path, false))
    if (!target) throw new FsError('EINVAL')
    return target
  }

  async chmod(path: Path, mode: number): Promise<void> {
    await this.thread.changeAt(path, true, (call, ino) => attributeCalls.chmod(call, ino, mode))
  }

  async chown(path: Path, uid: number, gid: number): Promise<void> {
    await this.thread.changeAt(path, true, (call, ino) =>
      attributeCalls.chown(call, ino, ownerChange(uid), ownerChange(gid)),
    )
  }

  async lchown(path: Path, uid: number, gid: number): Promise<void> {
    await this.thread.changeAt(path, false, (call, ino) =>
      attributeCalls.chown(call, ino, ownerChange(uid), ownerChange(gid)),
    )
  }

  async utimens(
    path: Path,
    atime: TimeChange,
    mtime: TimeChange,
    { followSymlinks = true }: { readonly followSymlinks?: boolean } = {},
  ): Promise<void> {
    // Nothing to do, and the kernel does not even look whether there is such a file.
    if (atime === 'omit' && mtime === 'omit') return
    await this.thread.changeAt(path, followSymlinks, (call, ino) =>
      attributeCalls.utimens(call, ino, timeChange(atime), timeChange(mtime)),
    )
  }

  async readdir(path: Path): Promise<readonly DirectoryEntry[]> {
    const fd = await this.open(path, O_RDONLY | O_DIRECTORY)
    const entries: DirectoryEntry[] = []
    for (;;) {
      const next = await this.getdents(fd, 65_536)
      if (next.length === 0) break
      entries.push(...next)
    }
    await this.close(fd)
    return entries
  }

  async getxattr(path: Path, name: string, bufferBytes = XATTR_BYTES_MAX): Promise<Uint8Array> {
    const value = await this.#getxattr(await this.thread.find(path, true), name)
    if (value.length > bufferBytes) throw new FsError('ERANGE')
    return value
  }

  async lgetxattr(path: Path, name: string): Promise<Uint8Array> {
    return this.#getxattr(await this.thread.find(path, false), name)
  }

  #getxattr(ino: Ino, name: string): Promise<Uint8Array> {
    return this.thread.look((call) => attributeCalls.getxattr(call, ino, pathBytes(name)))
  }

  setxattr(path: Path, name: string, value: Uint8Array, flags = 0): Promise<void> {
    return this.#setxattr(path, true, name, value, flags)
  }

  lsetxattr(path: Path, name: string, value: Uint8Array, flags = 0): Promise<void> {
    return this.#setxattr(path, false, name, value, flags)
  }

  async #setxattr(
    path: Path,
    follow: boolean,
    name: string,
    value: Uint8Array,
    flags: number,
  ): Promise<void> {
    const mode = xattrMode(flags)
    await this.thread.changeAt(path, follow, (call, ino) =>
      attributeCalls.setxattr(call, ino, pathBytes(name), value.slice(), mode),
    )
  }

  async removexattr(path: Path, name: string): Promise<void> {
    await this.thread.changeAt(path, true, (call, ino) =>
      attributeCalls.removexattr(call, ino, pathBytes(name)),
    )
  }

  listxattr(path: Path): Promise<readonly string[]> {
    return this.#listxattr(path, true)
  }

  llistxattr(path: Path): Promise<readonly string[]> {
    return this.#listxattr(path, false)
  }

  async #listxattr(path: Path, follow: boolean): Promise<readonly string[]> {
    const ino = await this.thread.find(path, follow)
    const names = await this.thread.look((call) => attributeCalls.listxattr(call, ino))
    return names.map((name) => new TextDecoder().decode(fromByteString(name)))
  }
}
