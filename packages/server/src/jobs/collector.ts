import { findClosedState, type LogMemory, newLogMemory, Reach, trimLog } from '@cairn/core'
import {
  type BranchId,
  type CollectReport,
  type ContentTally,
  type Hash,
  isCairnError,
} from '@cairn/protocol'
import { isEpochCheckpoint } from '../leases/epoch-end.ts'
import type { ExpiredLayer } from '../storage/expiry-table.ts'
import type { Storage } from '../storage/open.ts'
import type { StoredContent } from '../storage/survey-table.ts'
import { type ContentTableName, contentTables } from '../storage/touch-rows.ts'
import { millisecondsOf } from '../ports/clock.ts'
import type { KeepTimes } from '../workspaces/keep-times.ts'
import { type GoneBranch, nameGone } from './gone.ts'
import { forgetGoneHolders } from './holder-notes.ts'
import { listPools, type Pool, sortBranches, type SortedBranches } from './pools.ts'
import { UnfinishedLayers } from './unfinished-layers.ts'
import { addTally, noContent, tallyOf } from './tally.ts'

export interface CollectorOptions extends KeepTimes {
  readonly nowMs: () => number
  readonly observe?: ObserveCollecting
  /** Asked after each small step: waits so that others get their turn, and throws to end the run. */
  readonly step?: () => Promise<void> | void
  /** Removes what this machine keeps of a deleted workspace beside the stores. */
  readonly forget?: ((workspace: string) => Promise<void>) | undefined
}

/** Hears how far a run has come. */
export interface ObserveCollecting {
  /** Nodes and blobs that are needed, as found so far. */
  readonly marked?: (count: number) => void
  readonly removed?: (kind: keyof ContentTally, count: number, bytes: number) => void
  readonly ran?: (outcome: 'done' | 'failed', seconds: number) => void
}

export interface RunOptions {
  readonly dryRun: boolean
  /** No other process uses the stores: nothing must wait for its grace time. */
  readonly alone?: boolean
  /** Whose things the report names; everybody's unless given. */
  readonly owner?: string
}

/** Twice finds what moved while it looked; more only follows writers about. */
const looksMax = 3

/**
 * Takes away nodes and blobs that no branch, checkpoint or upload leads to, beside servers that write.
 *
 * A writer relies on content that it finds stored, and points at it a moment later. So unneeded
 * content is condemned first, and deleted only by a later run, which must itself have found it
 * unneeded and begun a grace time after it was condemned: a client that found it in a tree before
 * has recorded by then where it is needed. Putting or touching content takes its condemnation back;
 * the deletion requires that the row is condemned. Any number of collectors may run at once.
 */
export class Collector {
  readonly #storage: Storage
  readonly #options: CollectorOptions
  /** Logs only grow: each is read to its end once. */
  readonly #logs = new Map<BranchId, LogMemory>()
  readonly #unfinished = new UnfinishedLayers()

  constructor(storage: Storage, options: CollectorOptions) {
    this.#storage = storage
    this.#options = options
  }

  async run(options: RunOptions): Promise<CollectReport> {
    const { nowMs, observe } = this.#options
    const beginMs = nowMs()
    const seconds = (): number => (nowMs() - beginMs) / 1000
    const { reserve } = this.#storage
    try {
      if (!options.dryRun) await reserve?.releaseIfShort()
      const report = await this.#run(options, beginMs)
      if (reserve?.isReleased) await reserve.take()
      observe?.ran?.('done', seconds())
      return report
    } catch (error) {
      observe?.ran?.('failed', seconds())
      throw error
    }
  }

  async #run(
    { dryRun, alone = false, owner }: RunOptions,
    beginMs: number,
  ): Promise<CollectReport> {
    const end = new Date(beginMs - this.#options.retentionMs).toISOString()
    const expired = await this.#expireLayers(dryRun, beginMs, end)
    const dueMs = alone ? beginMs : beginMs - this.#options.graceMs
    if (!dryRun) await this.#dropStaged(beginMs, dueMs)
    if (!dryRun) await this.#forgetSecrets(end)
    if (!dryRun) await this.#forgetNotes(beginMs)
    const gone: GoneBranch[] = []
    let checkpoints = 0
    const sums = { kept: noContent, removed: noContent, waiting: noContent }
    const pools = await listPools(this.#storage)
    for (const pool of pools) {
      const unfinished = await this.#findUnfinished(pool, alone)
      const branches = await this.#dropBranches(pool, end, dryRun ? expired : [], unfinished)
      gone.push(...branches.gone)
      for (const { id } of dryRun ? [] : branches.gone) await this.#removeBranch(id)
      for (const branch of branches.live)
        checkpoints += await this.#dropCheckpoints(branch, end, dryRun)
      for (const branch of dryRun ? [] : branches.live) await this.#trim(pool, branch)
      const sweep = { pool, dryRun, alone, beginMs: this.#options.nowMs() }
      const reach = await this.#mark(pool, end, new Set(branches.gone.map(({ id }) => id)))
      for (const table of contentTables) await this.#sweep(sweep, table, reach, sums)
      if (!dryRun) await this.#storage.compactor.compact(pool.id, this.#options.step)
    }
    // It begins with objects that an earlier run could not delete.
    if (!dryRun) await this.#storage.compactor.dropUnused(beginMs, dueMs)
    const workspaces = pools.flatMap((pool) => pool.workspaces)
    return {
      dryRun,
      layers: expired.length,
      branches: gone.length,
      checkpoints,
      gone: nameGone(workspaces, expired, gone, owner),
      ...sums,
    }
  }

  /** Also deletes the secrets, grants and journals of workspaces that were deleted before then. */
  async #forgetSecrets(end: string): Promise<void> {
    const { survey, vault } = this.#storage
    for (const { id, deletedAt } of await survey.workspaces()) {
      if (deletedAt === undefined || deletedAt >= end) continue
      await this.#options.step?.()
      await vault.forget(id)
      await this.#options.forget?.(id)
    }
  }

  async #forgetNotes(nowMs: number): Promise<void> {
    const { expiry, leases, tokens } = this.#storage
    const endMs = nowMs - this.#options.retentionMs
    await expiry.forgetAnswers(nowMs, endMs)
    await expiry.forgetRevokedTokens(endMs)
    await forgetGoneHolders(leases, tokens)
  }

  /** Gives the layers that have been over for long enough. */
  async #expireLayers(
    dryRun: boolean,
    nowMs: number,
    end: string,
  ): Promise<readonly ExpiredLayer[]> {
    const { expiry, log } = this.#storage
    const now = new Date(nowMs).toISOString()
    if (!dryRun) await this.#noteClosed(now)
    if (!dryRun) await expiry.noteClosed(now)
    const expired: ExpiredLayer[] = []
    for (const layer of await expiry.expiredLayers(end)) {
      // Reopened, and not noted.
      if (!(await findClosedState(log, layer.branch))) continue
      if (dryRun || (await expiry.expire(layer, end))) expired.push(layer)
    }
    return expired
  }

  /** A server may have ended between closing a layer and noting it. */
  async #noteClosed(now: string): Promise<void> {
    const { expiry, log } = this.#storage
    for (const layer of await expiry.openLayers()) {
      await this.#options.step?.()
      const state = await findClosedState(log, layer.branch)
      if (state) await expiry.noteState(layer, state, now)
    }
  }

  /** Layers of imports that a server did not live to commit. One that is under way takes less than a grace time. */
  async #dropStaged(nowMs: number, dueMs: number): Promise<void> {
    const { expiry } = this.#storage
    const [now, before] = [nowMs, dueMs].map((ms) => new Date(ms).toISOString())
    for (const layer of await expiry.stagedLayers(before!)) await expiry.dropStaged(layer, now!)
  }

  async #dropBranches(
    pool: Pool,
    end: string,
    expired: readonly ExpiredLayer[],
    unfinished: readonly GoneBranch[],
  ): Promise<SortedBranches> {
    const { live, gone } = await sortBranches(this.#storage, pool, end)
    const own = new Map(pool.workspaces.map((workspace) => [workspace.id, workspace]))
    const there = new Set(live)
    const more = expired.flatMap((over) => {
      const workspace = own.get(over.workspace)
      return workspace && there.delete(over.branch)
        ? [{ id: over.branch, workspace, layer: over.id }]
        : []
    })
    const never = unfinished.filter(({ id }) => there.delete(id))
    return { live: [...there], gone: [...gone, ...more, ...never] }
  }

  #findUnfinished(pool: Pool, alone: boolean): Promise<readonly GoneBranch[]> {
    const nowMs = this.#options.nowMs()
    const dueMs = alone ? nowMs : nowMs - this.#options.graceMs
    return this.#unfinished.findDue(this.#storage, pool, nowMs, dueMs)
  }

  async #removeBranch(branch: BranchId): Promise<void> {
    await this.#storage.survey.removeBranch(branch)
    this.#logs.delete(branch)
    this.#unfinished.forget(branch)
  }

  /** What servers that ended had not come to. */
  async #trim({ stores }: Pool, branch: BranchId): Promise<void> {
    try {
      await trimLog(stores, branch, this.#options.step)
    } catch (error) {
      // Another collector took it away just now.
      if (!isCairnError(error, 'branch_missing')) throw error
    }
  }

  /** The newest stays however old it is: the sandbox it is for may only have been asleep. */
  async #dropCheckpoints(branch: BranchId, end: string, dryRun: boolean): Promise<number> {
    const all = await this.#storage.refs.listCheckpoints(branch)
    const old = all
      .filter(({ id }) => isEpochCheckpoint(id))
      .slice(0, -1)
      .filter(({ time }) => new Date(millisecondsOf(time)).toISOString() < end)
    for (const { id } of dryRun ? [] : old) await this.#storage.survey.removeCheckpoint(branch, id)
    return old.length
  }

  /**
   * Everything that a client may still ask for. Branches and checkpoints come and go meanwhile:
   * looking again until nothing new is found also sees what moved from a place not yet looked at to
   * one that had been.
   */
  async #mark(pool: Pool, end: string, gone: ReadonlySet<BranchId>): Promise<Reach> {
    const { step, observe } = this.#options
    const reach = new Reach(pool.stores, async () => {
      if (reach.nodes.size % 256 !== 0) return
      observe?.marked?.(reach.size)
      await step?.()
    })
    const keepsMs = Date.parse(end)
    for (let looks = 0, before = -1; before !== reach.size && looks < looksMax; looks++) {
      before = reach.size
      const { live } = await sortBranches(this.#storage, pool, end)
      for (const branch of live)
        if (!gone.has(branch)) await this.#markBranch(reach, branch, keepsMs)
      for (const { id } of pool.workspaces)
        for (const blob of await this.#storage.survey.uploadedBlobs(id)) reach.addBlob(blob)
    }
    observe?.marked?.(reach.size)
    return reach
  }

  async #markBranch(reach: Reach, branch: BranchId, keepsMs: number): Promise<void> {
    let memory = this.#logs.get(branch)
    if (!memory) this.#logs.set(branch, (memory = newLogMemory()))
    await this.#options.step?.()
    try {
      await reach.addBranch(branch, (time) => millisecondsOf(time) > keepsMs, memory)
    } catch (error) {
      // Another collector took it away just now.
      if (!isCairnError(error, 'branch_missing')) throw error
    }
  }

  async #sweep(
    { pool, dryRun, alone, beginMs }: Sweep,
    table: ContentTableName,
    reach: Reach,
    sums: { kept: ContentTally; removed: ContentTally; waiting: ContentTally },
  ): Promise<void> {
    const { survey } = this.#storage
    const { nowMs, graceMs, observe, step } = this.#options
    const kind = table === 'nodes' ? 'nodes' : 'blobs'
    const dueMs = alone ? undefined : beginMs - graceMs
    for await (const page of survey.content(pool.id, table)) {
      const { kept, spared, condemned, due, waiting } = sortPage(page, reach[kind], dueMs)
      sums.kept = addTally(sums.kept, kind, tallyOf(kept))
      sums.removed = addTally(sums.removed, kind, tallyOf(due))
      sums.waiting = addTally(sums.waiting, kind, tallyOf(waiting))
      if (!dryRun) {
        await survey.spare(pool.id, table, hashesOf(spared))
        await survey.condemn(pool.id, table, hashesOf(condemned), nowMs())
        await survey.remove(pool.id, table, hashesOf(due), dueMs)
        const { count, bytes } = tallyOf(due)
        observe?.removed?.(kind, count, bytes)
      }
      await step?.()
    }
  }
}

interface Sweep {
  readonly pool: Pool
  readonly dryRun: boolean
  readonly alone: boolean
  /** When marking began. */
  readonly beginMs: number
}

/** Which of a page's rows are needed, which go now, and which wait. `dueMs` is undefined where nothing has to wait. */
function sortPage(
  page: readonly StoredContent[],
  needed: ReadonlySet<Hash>,
  dueMs: number | undefined,
): Readonly<Record<'kept' | 'spared' | 'condemned' | 'due' | 'waiting', StoredContent[]>> {
  const kept = page.filter(({ hash }) => needed.has(hash))
  const unneeded = page.filter(({ hash }) => !needed.has(hash))
  const isDue = ({ condemnedMs = Infinity }: StoredContent): boolean =>
    dueMs === undefined || condemnedMs <= dueMs
  const waiting = unneeded.filter((content) => !isDue(content))
  return {
    kept,
    spared: kept.filter(({ condemnedMs }) => condemnedMs !== undefined),
    condemned: waiting.filter(({ condemnedMs }) => condemnedMs === undefined),
    due: unneeded.filter(isDue),
    waiting,
  }
}

function hashesOf(contents: readonly StoredContent[]): readonly Hash[] {
  return contents.map(({ hash }) => hash)
}
