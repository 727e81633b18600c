import {
  Branch,
  compareTimes,
  type Op,
  requireAllInside,
  type Stores,
  type Time,
  trimLog,
  type View,
} from '@cairn/core'
import { type BranchId, CairnError, isCairnError, type WorkspaceInfo } from '@cairn/protocol'
import { Arriving } from '../files/arriving.ts'
import { type KeepTimes, ordinaryKeepTimes, renewEveryMs } from './keep-times.ts'
import { PathChanges } from './path-changes.ts'
import { AutoCheckpoints } from './auto-checkpoints.ts'
import type { LayerStore } from '../ports/layer-store.ts'
import { Quotas } from './quotas.ts'
import { LockKeeper } from '../leases/lock-keeper.ts'
import type { LockStore } from '../ports/lock-store.ts'
import type { TraceStore } from '../ports/trace-store.ts'
import { LeaseKeeper, type LeaseOptions } from '../leases/lease-keeper.ts'
import type { LeaseStore } from '../ports/lease-store.ts'
import { Reaper } from '../leases/reaper.ts'
import { Feed } from '../leases/feed.ts'
import { StoredBlobs } from '../files/stored-blobs.ts'
import type { Clock } from '../ports/clock.ts'

/** Hears what was done, for counting. */
export interface ObserveWork {
  readonly batch?: (operations: number) => void
  readonly fold?: (seconds: number) => void
  /** One more is open, or one less. */
  readonly session?: (mode: 'read' | 'write', change: 1 | -1) => void
  /** A holder was asked to hand its lease back. */
  readonly recall?: () => void
  /** A change was answered before all read-write sessions had applied it. */
  readonly lateSession?: () => void
}

export interface OpenWorkspaceParts {
  readonly info: WorkspaceInfo
  /** Names the nodes and blobs that it shares with its forks. */
  readonly pool: string
  readonly stores: Stores
  readonly clock: Clock
  readonly leases: LeaseOptions
  readonly locks: LockStore
  readonly traces?: TraceStore | undefined
  readonly observe?: ObserveWork
  readonly layers: LayerStore
  /** As the collector has them. */
  readonly keep?: KeepTimes
  /** Other servers write to it, too: what is in memory may be old. */
  readonly isShared?: boolean
  readonly findBranch: (name: string) => Promise<BranchId | undefined>
  readonly takeInodes: (count: number) => Promise<number>
}

/** Folding after so much keeps small what a restart has to replay and what is in memory. */
const opsPerFold = 20_000
const bytesPerFold = 64 << 20

/** An open workspace: its branches, and what keeps them. */
export class OpenWorkspace {
  /** Replaced when the workspace is renamed. */
  info: WorkspaceInfo
  readonly pool: string
  readonly stores: Stores
  readonly storedBlobs: StoredBlobs
  readonly isShared: boolean
  readonly keep: KeepTimes
  readonly clock: Clock
  readonly #findBranch: OpenWorkspaceParts['findBranch']
  readonly takeInodes: OpenWorkspaceParts['takeInodes']
  readonly observe: ObserveWork
  readonly #leaseOptions: LeaseOptions
  readonly #leases = new Map<Branch, LeaseKeeper>()
  readonly #feeds = new WeakMap<Branch, Feed>()
  readonly #lockStore: LockStore
  readonly #locks = new Map<Branch, LockKeeper>()
  readonly #branches = new Map<BranchId, Promise<Branch>>()
  /** Up to which fold their logs were looked at. */
  readonly #trimmed = new Map<BranchId, number>()
  readonly traces: TraceStore | undefined
  readonly layers: LayerStore
  readonly quotas: Quotas = new Quotas(this)
  readonly arriving: Arriving = new Arriving()
  readonly paths: PathChanges
  /** Where the writers of a branch may write; undefined for everywhere. */
  readonly #limits = new Map<BranchId, string | undefined>()
  #main: BranchId | undefined

  constructor(parts: OpenWorkspaceParts) {
    this.info = parts.info
    this.pool = parts.pool
    this.keep = parts.keep ?? ordinaryKeepTimes
    this.stores = parts.stores
    this.storedBlobs = new StoredBlobs(parts.stores.blobs, {
      nowMs: () => parts.clock.nowMs(),
      forMs: renewEveryMs(this.keep),
    })
    this.clock = parts.clock
    this.#findBranch = parts.findBranch
    this.#leaseOptions = parts.leases
    this.#lockStore = parts.locks
    this.observe = parts.observe ?? {}
    this.takeInodes = parts.takeInodes
    this.layers = parts.layers
    this.traces = parts.traces
    this.isShared = parts.isShared ?? false
    this.paths = new PathChanges(this)
  }

  async branch(name: string): Promise<Branch> {
    return this.openBranch(await this.#branchId(name))
  }

  /**
   * By its id: a layer has several names, and one head under all of them. A failed opening is
   * retried by the next caller.
   */
  openBranch(id: BranchId): Promise<Branch> {
    let branch = this.#branches.get(id)
    if (!branch) {
      branch = Branch.open(this.stores, id).then((opened) => this.#watch(opened))
      this.#branches.set(id, branch)
      branch.catch(() => this.#branches.delete(id))
    }
    return branch
  }

  /** For a deleted branch: nothing of it needs to be in memory. */
  forgetBranch(id: BranchId): void {
    void this.#branches.get(id)?.then((branch) => {
      this.#leases.delete(branch)
      this.#locks.delete(branch)
    })
    this.#branches.delete(id)
    this.#limits.delete(id)
    this.#trimmed.delete(id)
    this.quotas.forget(id)
  }

  /**
   * Puts every open head on a tree that is written down. What is in memory alone may stand on nodes that nothing else
   * needs, because another server folded on or a merge was refused: the collector would take them away.
   */
  async renew(): Promise<void> {
    for (const [id, opening] of this.#branches) {
      try {
        const branch = await opening
        await branch.refresh()
        await branch.fold()
      } catch (error) {
        // It was deleted, or the next renewal finds the store in a better mood: there are several in a grace time.
        if (isCairnError(error, 'branch_missing')) this.forgetBranch(id)
      }
    }
  }

  /** Trims the logs of open branches that were folded since the last time. Others the collector finds. */
  async trim(step: () => Promise<void>): Promise<void> {
    for (const [id, opening] of this.#branches) {
      const seq = await opening.then(
        ({ head }) => head.folded.seq,
        () => 0,
      )
      if (seq <= (this.#trimmed.get(id) ?? 0)) continue
      await trimLog(this.stores, id, step)
      this.#trimmed.set(id, seq)
    }
  }

  /** Who may write to a branch. One keeper for one branch. */
  lease(branch: Branch): LeaseKeeper {
    let keeper = this.#leases.get(branch)
    if (!keeper) {
      const { isShared } = this
      const { recall: onRecall, lateSession: onLateSession } = this.observe
      const options = { ...this.#leaseOptions, isShared, onRecall, onLateSession }
      this.#leases.set(branch, (keeper = new LeaseKeeper(this.stores, branch, options)))
    }
    return keeper
  }

  /** Tells the sessions of a branch what is new. One feed for one branch. */
  feed(branch: Branch): Feed {
    let feed = this.#feeds.get(branch)
    if (!feed)
      this.#feeds.set(branch, (feed = new Feed(branch, this.clock, this.stores.nodes.pacer)))
    return feed
  }

  /** Whether a session has the lease of a branch, which need not be open. */
  async isHeld(branch: BranchId): Promise<boolean> {
    return (await this.#leaseOptions.store.get(branch))?.holder !== undefined
  }

  /** The locks of a branch's files. One keeper for one branch. */
  locks(branch: Branch): LockKeeper {
    let keeper = this.#locks.get(branch)
    if (!keeper) {
      const [store, clock, lease] = [this.#lockStore, this.clock, this.lease(branch)]
      this.#locks.set(branch, (keeper = new LockKeeper({ store, branch: branch.id, lease, clock })))
    }
    return keeper
  }

  read<T>(branch: Branch, read: (view: View) => T): Promise<T> {
    return this.stores.nodes.read(() => read(branch.head.view))
  }

  /** What is known of sessions and tokens on all servers. */
  get notes(): LeaseStore {
    return this.#leaseOptions.store
  }

  /** What is asked before a session's operations are taken: that their blobs are stored, and that they stay at a layer's path. */
  checkOf({ id }: Branch, ops: readonly Op[]): ((view: View) => Promise<void>) | undefined {
    const areStored = this.storedBlobs.checkOf(ops)
    if (id === this.#main) return areStored
    return async (view) => {
      await areStored?.()
      const limit = await this.limitOf(id)
      if (limit !== undefined)
        await this.stores.nodes.readSteps(() => requireAllInside(view, ops, limit))
    }
  }

  /** A mount's clock may be ahead. Its time for a batch would then be the least for all that come after it. */
  notAfterNow(time: Time): Time {
    const now = this.clock.now()
    return compareTimes(time, now) > 0 ? now : time
  }

  /** Where a layer may be changed, if not everywhere. Its path never changes, so it is asked for once. */
  async limitOf(branch: BranchId): Promise<string | undefined> {
    if (branch === this.#main) return undefined
    if (!this.#limits.has(branch)) {
      const path = (await this.layers.findByBranch(branch))?.path
      this.#limits.set(branch, path === '/' ? undefined : path)
    }
    return this.#limits.get(branch)
  }

  /** `main` is main for ever; other names come and go. */
  async #branchId(name: string): Promise<BranchId> {
    if (name === 'main' && this.#main !== undefined) return this.#main
    const id = await this.#findBranch(name)
    if (id !== undefined) return name === 'main' ? (this.#main = id) : id
    throw new CairnError('branch_missing', {
      what: `open branch '${name}' of workspace '${this.info.name}'`,
      reason: `there is no branch or layer '${name}'`,
      subject: name,
    })
  }

  /** Folds beside the writers, one fold at a time. One that fails is tried again by the next batch. */
  #watch(branch: Branch): Branch {
    branch.limitBy((body) => this.quotas.limitsFor(branch, body))
    const checkpoints = new AutoCheckpoints(this, branch)
    const [keeper, clock, { leaseMs }] = [this.lease(branch), this.clock, this.#leaseOptions]
    const reaper = new Reaper({ branch, keeper, clock, leaseMs })
    let folding = false
    branch.subscribe((batch) => {
      const { body } = batch
      checkpoints.hear(batch)
      reaper.hear(batch)
      this.observe.batch?.(body.type === 'ops' ? body.ops.length : 0)
      const { pendingOps, pendingBytes } = branch.head
      if (folding || (pendingOps < opsPerFold && pendingBytes < bytesPerFold)) return
      folding = true
      const begin = this.clock.nowMs()
      void branch
        .fold()
        .then(() => this.observe.fold?.((this.clock.nowMs() - begin) / 1000))
        .catch(() => undefined)
        .finally(() => (folding = false))
    })
    return branch
  }
}
