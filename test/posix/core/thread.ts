import { type Call, type Credentials, type Inode, type Op, resolveExisting } from '@cairn/core'
import { FsError, type Ino } from '@cairn/protocol'
import type { Path } from '../subject.ts'
import type { Descriptors } from './descriptors.ts'
import { pathBytes } from './translate.ts'
import type { Workspace } from './workspace.ts'

/** What threads of one process share. */
export interface Process {
  readonly workspace: Workspace
  readonly descriptors: Descriptors
  umask: number
}

/** One thread of a process, with the credentials it has. */
export class Thread {
  readonly who: Credentials
  readonly process: Process

  constructor(process: Process, who: Credentials) {
    this.process = process
    this.who = who
  }

  get workspace(): Workspace {
    return this.process.workspace
  }

  get descriptors(): Descriptors {
    return this.process.descriptors
  }

  look<T>(read: (call: Call) => T): Promise<T> {
    return this.workspace.look(this.who, read)
  }

  inode(ino: Ino): Promise<Inode> {
    return this.look(({ view }) => {
      const inode = view.inode(ino)
      if (!inode) throw new FsError('ESTALE')
      return inode
    })
  }

  find(path: Path, follow: boolean): Promise<Ino> {
    return this.look((call) => findIno(call, path, follow))
  }

  async change(make: (call: Call) => Op | undefined): Promise<void> {
    const op = await this.look(make)
    if (op) await this.workspace.submit([op])
  }

  changeAt(
    path: Path,
    follow: boolean,
    make: (call: Call, ino: Ino) => Op | undefined,
  ): Promise<void> {
    return this.change((call) => make(call, findIno(call, path, follow)))
  }

  async changeOpen(fd: number, make: (call: Call, ino: Ino) => Op | undefined): Promise<void> {
    const { ino } = this.descriptors.get(fd)
    await this.change((call) => make(call, ino))
  }

  /**
   * For calls that remove a name: if it was the last one and no descriptor is open, the file goes,
   * too.
   */
  async takeAway(make: (call: Call) => { op: Op; ino: Ino | undefined }): Promise<void> {
    const { op, ino } = await this.look(make)
    await this.workspace.submit([op])
    if (ino !== undefined) await this.reap(ino)
  }

  async reap(ino: Ino): Promise<void> {
    if (this.descriptors.isOpen(ino)) return
    const { nlink } = await this.inode(ino)
    if (nlink === 0) await this.workspace.submit([{ type: 'reap', ino }])
  }
}

function findIno({ view, who }: Call, path: Path, follow: boolean): Ino {
  return resolveExisting(view, pathBytes(path), { who, follow }).ino
}
