import { randomUUID } from 'node:crypto'
import { type Author, Branch, type Op, type Receipt, type Stores, type View } from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  CairnError,
  type SessionId,
  type WorkspaceInfo,
} from '@cairn/protocol'
import { InodeRange } from '../files/inode-range.ts'
import { TreeEdit } from '../files/tree-edit.ts'
import { LeaseKeeper, type LeaseOptions } from '../sessions/lease-keeper.ts'
import type { Clock } from './clock.ts'

/** Who asks, and under which key they may ask again. */
export interface Asker {
  readonly actor: ActorId
  /** The same key again is the same request again. */
  readonly idempotencyKey: string | undefined
}

/** Hears what was done, for counting. */
export interface ObserveWork {
  readonly batch?: (operations: number) => void
  readonly fold?: (seconds: number) => void
}

export interface WorkspaceParts {
  readonly info: WorkspaceInfo
  readonly stores: Stores
  readonly clock: Clock
  readonly leases: LeaseOptions
  readonly observe?: ObserveWork
  readonly findBranch: (name: string) => Promise<BranchId | undefined>
  readonly takeInodes: (count: number) => Promise<number>
}

/** Folding after so much keeps small what a restart has to replay and what is in memory. */
const opsPerFold = 20_000
const bytesPerFold = 64 << 20

/** An open workspace: its branches, and changing them by path. */
export class Workspace {
  readonly info: WorkspaceInfo
  readonly stores: Stores
  readonly clock: Clock
  readonly #findBranch: WorkspaceParts['findBranch']
  readonly takeInodes: WorkspaceParts['takeInodes']
  readonly #inodes: InodeRange
  readonly #session = `http-${randomUUID()}` as SessionId
  #lastNumber = 0
  readonly #observe: ObserveWork
  readonly #leaseOptions: LeaseOptions
  readonly #leases = new Map<Branch, LeaseKeeper>()
  readonly #branches = new Map<string, Promise<Branch>>()

  constructor(parts: WorkspaceParts) {
    this.info = parts.info
    this.stores = parts.stores
    this.clock = parts.clock
    this.#findBranch = parts.findBranch
    this.#leaseOptions = parts.leases
    this.#observe = parts.observe ?? {}
    this.takeInodes = parts.takeInodes
    this.#inodes = new InodeRange(parts.takeInodes)
  }

  /** An opening that fails is tried again by whoever asks next. */
  branch(name: string): Promise<Branch> {
    let branch = this.#branches.get(name)
    if (!branch) {
      branch = this.#open(name)
      this.#branches.set(name, branch)
      branch.catch(() => this.#branches.delete(name))
    }
    return branch
  }

  /** Who may write to a branch. One keeper for one branch. */
  lease(branch: Branch): LeaseKeeper {
    let keeper = this.#leases.get(branch)
    if (!keeper)
      this.#leases.set(branch, (keeper = new LeaseKeeper(this.stores, branch, this.#leaseOptions)))
    return keeper
  }

  read<T>(branch: Branch, read: (view: View) => T): Promise<T> {
    return this.stores.nodes.read(() => read(branch.head.view))
  }

  /** Changes the tree by path, all or nothing, decided on what the tree is at that very moment. */
  async change<T>(
    branch: Branch,
    asker: Asker,
    decide: (edit: TreeEdit) => T,
  ): Promise<{ receipt: Receipt; result: T | undefined }> {
    let result: T | undefined
    const attempt = (view: View): readonly Op[] => {
      const edit = new TreeEdit(view, { now: this.clock.now(), newIno: this.#inodes.next })
      result = decide(edit)
      return edit.ops
    }
    const receipt = await this.#inodes.supply(() =>
      this.lease(branch).withTurn((epoch) => branch.transact(this.#author(asker), attempt, epoch)),
    )
    return { receipt, result }
  }

  /** Without a key of its own a request is one more of this process's session: nobody will ask for it again. */
  #author({ actor, idempotencyKey }: Asker): Author {
    const time = this.clock.now()
    if (idempotencyKey === undefined)
      return { actor, session: this.#session, number: ++this.#lastNumber, time }
    return { actor, session: `http:${actor}:${idempotencyKey}` as SessionId, number: 1, time }
  }

  async #open(name: string): Promise<Branch> {
    const id = await this.#findBranch(name)
    if (id) return this.#watch(await Branch.open(this.stores, id))
    throw new CairnError('branch_missing', {
      message: `cannot open branch '${name}' of workspace '${this.info.name}': there is none`,
      subject: name,
    })
  }

  /** Folds beside the writers, one fold at a time. One that fails is tried again by the next batch. */
  #watch(branch: Branch): Branch {
    let folding = false
    branch.subscribe(({ body }) => {
      this.#observe.batch?.(body.type === 'ops' ? body.ops.length : 0)
      const { pendingOps, pendingBytes } = branch.head
      if (folding || (pendingOps < opsPerFold && pendingBytes < bytesPerFold)) return
      folding = true
      const begin = this.clock.nowMs()
      void branch
        .fold()
        .then(() => this.#observe.fold?.((this.clock.nowMs() - begin) / 1000))
        .catch(() => undefined)
        .finally(() => (folding = false))
    })
    return branch
  }
}
