import { strict as assert } from 'node:assert'
import {
  Branch,
  type Call,
  createBranch,
  type Credentials,
  type Op,
  readFile,
  type Stores,
  type Time,
  type Totals,
  totalsOf,
  TreeView,
} from '@cairn/core'
import { MemoryRefStore } from '@cairn/core/testing'
import type { ActorId, BranchId, Hash, Ino, SessionId } from '@cairn/protocol'
import { checkTree } from './check-tree.ts'
import { MemoryDisk } from '@cairn/server/testing'

/** When things happen that no question may notice. */
export interface Habits {
  /** Fold after so many batches; never, when undefined. */
  readonly foldEvery?: number
  /** Forget everything before each call, and rebuild it from the newest fold and the log. */
  readonly forgetful?: boolean
}

const branchId = 'main' as BranchId
const session = 'posix' as SessionId
const actor = 'questioner' as ActorId

/** A branch with a clock and inode numbers of its own. Everything it is told goes through the log. */
export class Workspace {
  readonly #disk: MemoryDisk
  readonly #habits: Habits
  #stores: Stores
  #branch: Branch
  #lastNumber = 0
  #lastIno = 1
  #now: Time = { sec: 1_800_000_000, nsec: 0 }

  private constructor(habits: Habits, disk: MemoryDisk, stores: Stores, branch: Branch) {
    this.#habits = habits
    this.#disk = disk
    this.#stores = stores
    this.#branch = branch
  }

  static async create(habits: Habits): Promise<Workspace> {
    const disk = new MemoryDisk()
    const stores = disk.open()
    await createBranch(stores, branchId)
    return new Workspace(habits, disk, stores, await Branch.open(stores, branchId))
  }

  get stores(): Stores {
    return this.#stores
  }

  /** By the smallest step there is, so that no nanosecond may be lost. */
  nextInstant(): void {
    this.#now = { ...this.#now, nsec: this.#now.nsec + 1 }
  }

  async look<T>(who: Credentials, read: (call: Call) => T): Promise<T> {
    if (this.#habits.forgetful) await this.#restart()
    const newIno = (): Ino => ++this.#lastIno as Ino
    const { view } = this.#branch.head
    return this.#stores.nodes.read(() => read({ view, who, now: this.#now, newIno }))
  }

  async submit(ops: readonly Op[]): Promise<void> {
    const number = this.#lastNumber + 1
    await this.#branch.submit({ session, number, epoch: 1, actor, time: this.#now, ops })
    this.#lastNumber = number
    const { foldEvery } = this.#habits
    if (foldEvery !== undefined && number % foldEvery === 0) await this.#branch.fold()
  }

  async read(ino: Ino, offset: number, end: number): Promise<Uint8Array> {
    const { nodes, blobs } = this.#stores
    const { view } = this.#branch.head
    const file = await nodes.read(() => view.inode(ino))
    return file?.content ? readFile(nodes, blobs, view, ino, file, offset, end) : new Uint8Array()
  }

  /** As of now, because it folds first. */
  async totals(): Promise<Totals> {
    const { snapshot } = await this.#branch.fold()
    return this.#stores.nodes.read(() => totalsOf(this.#stores.nodes, snapshot))
  }

  /** What must hold whatever was asked. Everything that was open must be closed. */
  async check(): Promise<void> {
    const { nodes } = this.#stores
    const inodes = await nodes.read(() => checkTree(this.#branch.head.view))
    const { snapshot } = await this.#branch.fold()
    assert.equal(await nodes.read(() => checkTree(new TreeView(nodes, snapshot))), inodes)
    assert.equal((await this.totals()).inodes, inodes)
    assert.equal(snapshot.orphans, nodes.emptyRoot, 'no file without a name is left')
    assert.equal(await this.#foldAtOnce(), snapshot.root, 'when it was folded does not matter')
  }

  /** The tree that one fold of the whole log leads to. */
  async #foldAtOnce(): Promise<Hash> {
    const stores = this.#disk.open(new MemoryRefStore())
    await createBranch(stores, branchId)
    const branch = await Branch.open(stores, branchId)
    return (await branch.fold()).snapshot.root
  }

  async #restart(): Promise<void> {
    this.#stores = this.#disk.open()
    this.#branch = await Branch.open(this.#stores, branchId)
  }
}
