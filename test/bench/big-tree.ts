import {
  Branch,
  createBranch,
  forkBranch,
  type Op,
  type Snapshot,
  type Stores,
  type Time,
} from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  type Ino,
  type Name,
  rootIno,
  type SessionId,
} from '@cairn/protocol'

const filesPerDirectory = 50
const opsPerFold = 20_000

/** A tree of many small directories, as a repository with its dependencies is. */
export class BigTree {
  readonly stores: Stores
  readonly files: number
  readonly branch: Branch
  #number = 0
  #branches = 0

  private constructor(stores: Stores, files: number, branch: Branch) {
    this.stores = stores
    this.files = files
    this.branch = branch
  }

  static async build(stores: Stores, files: number): Promise<BigTree> {
    const id = 'main' as BranchId
    await createBranch(stores, id)
    const tree = new BigTree(stores, files, await Branch.open(stores, id))
    const directories = tree.directories
    for (let d = 0; d < directories; d++) {
      await tree.submit(tree.branch, tree.#directoryOps(d))
      if (tree.branch.head.pendingOps >= opsPerFold) await tree.branch.fold()
    }
    await tree.branch.fold()
    return tree
  }

  get directories(): number {
    return Math.ceil(this.files / filesPerDirectory)
  }

  /** A number no file of the tree has. */
  get freeIno(): number {
    return 2 + this.directories + this.files
  }

  directory(index: number): Ino {
    return (2 + index) as Ino
  }

  file(index: number): Ino {
    return (2 + this.directories + index) as Ino
  }

  place(index: number): { parent: Ino; name: Name } {
    const parent = this.directory(Math.floor(index / filesPerDirectory))
    return { parent, name: `component-${index % filesPerDirectory}.test.ts` as Name }
  }

  async fork(from: Snapshot): Promise<Branch> {
    const id = `attempt-${++this.#branches}` as BranchId
    await forkBranch(this.stores, id, from, this.branch.id)
    return Branch.open(this.stores, id)
  }

  async submit(branch: Branch, ops: readonly Op[]): Promise<void> {
    await branch.submit({
      session: 'bench' as SessionId,
      number: ++this.#number,
      epoch: branch.head.position.epoch,
      actor: 'bench' as ActorId,
      time: this.#time(0),
      ops,
    })
  }

  /** Edits a file in place, as a program saving it would. */
  edit(index: number, salt: number): Op[] {
    const bytes = new TextEncoder().encode(`content ${index} of attempt ${salt}`)
    const data = { type: 'bytes', bytes } as const
    const time = this.#time(1 + salt)
    return [{ type: 'write', time, ino: this.file(index), offset: 0, data, dropPrivileges: false }]
  }

  create(parent: Ino, name: string, ino: number): Op {
    return this.#create(parent, name, ino as Ino, 'file')
  }

  #directoryOps(directory: number): Op[] {
    const ops = [
      this.#create(rootIno, `package-${directory}`, this.directory(directory), 'directory'),
    ]
    const first = directory * filesPerDirectory
    for (let i = first; i < Math.min(first + filesPerDirectory, this.files); i++) {
      const { parent, name } = this.place(i)
      ops.push(this.#create(parent, name, this.file(i), 'file'), ...this.edit(i, 0))
    }
    return ops
  }

  #create(parent: Ino, name: string, ino: Ino, kind: 'file' | 'directory'): Op {
    const owner = { mode: 0o644, uid: 1000, gid: 1000, rdev: 0, target: undefined }
    return { type: 'create', time: this.#time(0), parent, name: name as Name, ino, kind, ...owner }
  }

  #time(sec: number): Time {
    return { sec: 1_790_000_000 + sec, nsec: 123_456_789 }
  }
}
