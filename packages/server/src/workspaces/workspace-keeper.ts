import { randomUUID } from 'node:crypto'
import { createBranch, forkBranch, type Snapshot, type Stores } from '@cairn/core'
import {
  type BranchId,
  CairnError,
  type DeletedWorkspace,
  isCairnError,
  type Page,
  type WorkspaceDeletion,
  type WorkspaceInfo,
} from '@cairn/protocol'
import { type KeepTimes, ordinaryKeepTimes } from './keep-times.ts'
import type { LayerStore } from '../ports/layer-store.ts'
import { changeSettings, quotaOf, type SettingsEdit } from './quotas.ts'
import type { LockStore } from '../ports/lock-store.ts'
import type { TraceStore } from '../ports/trace-store.ts'
import type { LeaseOptions } from '../leases/lease-keeper.ts'
import type { Clock } from '../ports/clock.ts'
import { isoTime } from '../ports/clock.ts'
import { type ObserveWork, OpenWorkspace } from './open-workspace.ts'

/** What is stored of a workspace. */
export interface WorkspaceRecord {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** Nodes and blobs are shared inside a pool, never across. */
  readonly pool: string
  readonly createdAt: string
}

export interface DeletedRecord extends WorkspaceRecord {
  readonly deletedAt: string
}

/** Where workspaces and the names of their branches are written down. */
export interface WorkspaceDirectory {
  /** Rejects with `workspace_exists`. */
  create(
    record: WorkspaceRecord,
    branch: { readonly name: string; readonly id: BranchId },
    /** A fork goes on with the inode numbers of its origin. */
    firstIno?: number,
  ): Promise<void>
  /** By id or by name. */
  find(owner: string, nameOrId: string): Promise<WorkspaceRecord | undefined>
  /** In order of names, after that one. */
  list(owner: string, after: string | undefined, limit: number): Promise<readonly WorkspaceRecord[]>
  /** False when there is none. Rejects with `workspace_exists` when the name is taken. */
  rename(owner: string, id: string, name: string): Promise<boolean>
  /** False when there was none. */
  remove(owner: string, id: string, deletedAt: string): Promise<boolean>
  /** One that was deleted after that time, under this name. Like `rename`. */
  restore(owner: string, id: string, name: string, after: string): Promise<boolean>
  /** By id, or the last one of that name, if it was deleted after that time. */
  findDeleted(owner: string, nameOrId: string, after: string): Promise<DeletedRecord | undefined>
  /** Deleted after that time, in order of ids, after that one. */
  listDeleted(
    owner: string,
    after: string,
    afterId: string | undefined,
    limit: number,
  ): Promise<readonly DeletedRecord[]>
  /** The names of an owner's workspaces in a pool. */
  listPool(owner: string, pool: string): Promise<readonly string[]>
  /** Whether another owner has, or had, a workspace with that id or in the pool of that id. */
  hasOther(owner: string, id: string): Promise<boolean>
  findBranch(workspace: string, name: string): Promise<BranchId | undefined>
  /** Reserves inode numbers for good; gives the first. */
  takeInodes(workspace: string, count: number): Promise<number>
}

export interface WorkspaceKeeperParts {
  readonly directory: WorkspaceDirectory
  readonly storesOf: (pool: string) => Stores
  readonly clock: Clock
  readonly leases: LeaseOptions
  readonly locks: LockStore
  /** Without it mounts are sent nothing ahead. */
  readonly traces?: TraceStore
  readonly observe?: ObserveWork
  readonly layers: LayerStore
  readonly keep?: KeepTimes
  /** Other servers serve the same workspaces. */
  readonly isShared?: boolean
}

/** Where the parts of a workspace are kept. */
export type AdoptionParts = Pick<WorkspaceKeeperParts, 'directory' | 'layers' | 'storesOf'>

/** How long a name is remembered: what another server deletes or renames is felt within this time. */
const knownMs = 500

/** A collector may begin with one whose time is nearly over while it is being restored. */
const restoreMarginMs = 60_000

/** Open workspaces. Each is opened once and kept: what is in memory of it is a cache of its log. */
export class WorkspaceKeeper {
  readonly #directory: WorkspaceDirectory
  readonly #storesOf: (pool: string) => Stores
  readonly #clock: Clock
  readonly #leases: LeaseOptions
  readonly #locks: LockStore
  readonly #traces: TraceStore | undefined
  readonly #observe: ObserveWork
  readonly #layers: LayerStore
  readonly #isShared: boolean
  readonly #keep: KeepTimes
  readonly #open = new Map<string, OpenWorkspace>()
  readonly #known = new Map<string, { record: WorkspaceRecord; untilMs: number }>()

  constructor(parts: WorkspaceKeeperParts) {
    this.#directory = parts.directory
    this.#storesOf = parts.storesOf
    this.#clock = parts.clock
    this.#leases = parts.leases
    this.#locks = parts.locks
    this.#traces = parts.traces
    this.#observe = parts.observe ?? {}
    this.#layers = parts.layers
    this.#isShared = parts.isShared ?? false
    this.#keep = parts.keep ?? ordinaryKeepTimes
  }

  async create(owner: string, name: string): Promise<WorkspaceInfo> {
    const id = `ws_${randomUUID()}`
    const record = { id, owner, name, pool: id, createdAt: isoTime(this.#clock.now()) }
    const branch = { name: 'main', id: `${id}/main` as BranchId }
    // The branch first: a workspace that can be found has a tree.
    await createBranch(this.#storesOf(record.pool), branch.id)
    await this.#directory.create(record, branch)
    return infoOf(record)
  }

  /**
   * A new workspace that starts from a snapshot of another. It shares the other's pool, so that no node or blob is
   * copied, whatever the size of the tree. The same `id` again is the same fork again.
   */
  async fork(
    owner: string,
    origin: string,
    name: string,
    id: string,
    snapshot: Snapshot,
  ): Promise<WorkspaceInfo> {
    const from = await this.#find(owner, origin)
    if (!from) throw workspaceMissing(origin)
    const { pool } = from
    const record = { id, owner, name, pool, createdAt: isoTime(this.#clock.now()) }
    const branch = { name: 'main', id: `${id}/main` as BranchId }
    await forkOrFind(this.#storesOf(pool), branch.id, snapshot)
    const known = await this.#directory.find(owner, id)
    if (known) return infoOf(known)
    // Later than all that the snapshot has: what was given away since only leaves a gap.
    const firstIno = await this.#directory.takeInodes(from.id, 1)
    await this.#directory.create(record, branch, firstIno)
    return infoOf(record)
  }

  /** By name or id. Rejects with `workspace_missing`. */
  async open(owner: string, nameOrId: string): Promise<OpenWorkspace> {
    const record = await this.#find(owner, nameOrId)
    if (!record) throw workspaceMissing(nameOrId)
    let workspace = this.#open.get(record.id)
    if (!workspace) this.#open.set(record.id, (workspace = this.#openRecord(record)))
    // It was renamed, perhaps by another server.
    if (workspace.info.name !== record.name) workspace.info = infoOf(record)
    return workspace
  }

  async list(
    owner: string,
    after: string | undefined,
    limit: number,
  ): Promise<Page<WorkspaceInfo>> {
    const records = await this.#directory.list(owner, after, limit + 1)
    const items = await Promise.all(records.slice(0, limit).map((record) => this.#describe(record)))
    return records.length > limit ? { items, next: items.at(-1)!.name } : { items }
  }

  /** With its quota, and what of it `main` has used. */
  async describe(owner: string, nameOrId: string): Promise<WorkspaceInfo> {
    const workspace = await this.open(owner, nameOrId)
    const main = await workspace.branch('main')
    await main.refresh()
    const quota = await quotaOf(this.#layers, workspace.info.id)
    return { ...workspace.info, ...quota, used: await main.head.usage() }
  }

  async setQuota(owner: string, nameOrId: string, edit: SettingsEdit): Promise<WorkspaceInfo> {
    await changeSettings(await this.open(owner, nameOrId), 'main', edit)
    return this.describe(owner, nameOrId)
  }

  async #describe(record: WorkspaceRecord): Promise<WorkspaceInfo> {
    return { ...infoOf(record), ...(await quotaOf(this.#layers, record.id)) }
  }

  async rename(owner: string, nameOrId: string, name: string): Promise<void> {
    const record = await this.#directory.find(owner, nameOrId)
    if (!record || !(await this.#directory.rename(owner, record.id, name)))
      throw workspaceMissing(nameOrId)
    this.#known.clear()
  }

  /** Its sessions go on until they reconnect, with the same object if it is restored meanwhile: so it stays open. */
  async remove(owner: string, nameOrId: string): Promise<WorkspaceDeletion> {
    const record = await this.#directory.find(owner, nameOrId)
    const deletedAt = new Date(this.#clock.nowMs()).toISOString()
    if (!record || !(await this.#directory.remove(owner, record.id, deletedAt)))
      throw workspaceMissing(nameOrId)
    this.#known.clear()
    const forks = await this.#directory.listPool(owner, record.pool)
    return { ...this.#describeDeleted({ ...record, deletedAt }), forks }
  }

  async listDeleted(
    owner: string,
    after: string | undefined,
    limit: number,
  ): Promise<Page<DeletedWorkspace>> {
    const since = this.#restorableSince()
    const records = await this.#directory.listDeleted(owner, since, after, limit + 1)
    const items = records.slice(0, limit).map((record) => this.#describeDeleted(record))
    return records.length > limit ? { items, next: items.at(-1)!.id } : { items }
  }

  /** Under the name it had, unless another is given. */
  async restore(owner: string, nameOrId: string, name?: string): Promise<WorkspaceInfo> {
    const since = this.#restorableSince()
    const record = await this.#directory.findDeleted(owner, nameOrId, since)
    if (!record || !(await this.#hasTree(record))) throw notRestorable(nameOrId)
    if (!(await this.#directory.restore(owner, record.id, name ?? record.name, since)))
      throw notRestorable(nameOrId)
    this.#known.clear()
    return this.describe(owner, record.id)
  }

  /** Not once a collector that was started with a shorter time has taken it. */
  async #hasTree({ id, pool }: WorkspaceRecord): Promise<boolean> {
    const main = await this.#directory.findBranch(id, 'main')
    if (main === undefined) return false
    try {
      await this.#storesOf(pool).refs.getBranch(main)
      return true
    } catch (error) {
      if (isCairnError(error, 'branch_missing')) return false
      throw error
    }
  }

  #describeDeleted({ id, name, createdAt, deletedAt }: DeletedRecord): DeletedWorkspace {
    const expiresMs = Date.parse(deletedAt) + this.#keep.retentionMs - restoreMarginMs
    return { id, name, createdAt, deletedAt, expiresAt: new Date(expiresMs).toISOString() }
  }

  #restorableSince(): string {
    const ms = this.#clock.nowMs() - this.#keep.retentionMs + restoreMarginMs
    return new Date(ms).toISOString()
  }

  /** Makes a workspace from parts that come from elsewhere. `work` creates its row, last of all. */
  async adopt(work: (parts: AdoptionParts) => Promise<WorkspaceRecord>): Promise<WorkspaceInfo> {
    const parts = { directory: this.#directory, layers: this.#layers, storesOf: this.#storesOf }
    const record = await work(parts)
    this.#known.clear()
    return infoOf(record)
  }

  /** To be done several times in a grace time; see `Workspace.renew`. */
  async renew(): Promise<void> {
    for (const workspace of this.#open.values()) await workspace.renew()
  }

  /** Takes out of logs what folds have stored; see `Workspace.trim`. */
  async trim(step: () => Promise<void>): Promise<void> {
    for (const workspace of this.#open.values()) await workspace.trim(step)
  }

  async #find(owner: string, nameOrId: string): Promise<WorkspaceRecord | undefined> {
    const key = JSON.stringify([owner, nameOrId])
    const known = this.#known.get(key)
    if (known && known.untilMs > this.#clock.nowMs()) return known.record
    const record = await this.#directory.find(owner, nameOrId)
    if (record) this.#known.set(key, { record, untilMs: this.#clock.nowMs() + knownMs })
    else this.#known.delete(key)
    return record
  }

  #openRecord(record: WorkspaceRecord): OpenWorkspace {
    return new OpenWorkspace({
      info: infoOf(record),
      pool: record.pool,
      stores: this.#storesOf(record.pool),
      clock: this.#clock,
      leases: this.#leases,
      locks: this.#locks,
      traces: this.#traces,
      observe: this.#observe,
      layers: this.#layers,
      isShared: this.#isShared,
      keep: this.#keep,
      findBranch: (name) => this.#directory.findBranch(record.id, name),
      takeInodes: (count) => this.#directory.takeInodes(record.id, count),
    })
  }
}

/** One that is there was made by an attempt that was cut off. */
async function forkOrFind(stores: Stores, id: BranchId, snapshot: Snapshot): Promise<void> {
  try {
    await forkBranch(stores, id, snapshot)
  } catch (error) {
    if (!isCairnError(error, 'branch_exists')) throw error
  }
}

function infoOf({ id, name, createdAt }: WorkspaceRecord): WorkspaceInfo {
  return { id, name, createdAt }
}

function notRestorable(name: string): CairnError {
  return new CairnError('workspace_missing', {
    what: `restore workspace '${name}'`,
    reason: 'none that can be restored has that name or id; see cairn ws ls --deleted',
    subject: name,
  })
}

export function workspaceMissing(name: string): CairnError {
  return new CairnError('workspace_missing', {
    what: `open workspace '${name}'`,
    reason: `there is no workspace '${name}'`,
    subject: name,
  })
}
