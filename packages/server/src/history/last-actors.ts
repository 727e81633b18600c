import { type Batch, decodeInSteps, diffPaths, type RootChange } from '@cairn/core'
import { type BranchId, formatPath } from '@cairn/protocol'
import { requirePresent } from '../access/present.ts'
import { describeBatch } from './describe.ts'
import { isGone } from './history-walk.ts'
import { readDown } from './scan-log.ts'
import { readPointInSteps } from '../points/read-point.ts'
import type { Point } from '../points/references.ts'
import type { Branches } from '../workspaces/branches.ts'

/** More of the log is not read. Files that did not change since then have no actor. */
const batchesMax = 50_000

/**
 * Who changed each path last: from the log of the branch, newest first, then from the logs of what it stands on. A commit
 * counts for those who worked in the layer, as far as its log is there.
 */
export async function lastActors(
  workspace: Branches,
  point: Point,
  gone: AbortSignal | undefined,
): Promise<ReadonlyMap<string, string>> {
  const walk = new ActorWalk(workspace, point, gone)
  await walk.read(point.branch.id, point.seq ?? point.branch.head.position.seq)
  return walk.actors
}

class ActorWalk {
  readonly actors = new Map<string, string>()
  readonly #workspace: Branches
  readonly #point: Point
  readonly #gone: AbortSignal | undefined
  #batches = 0

  constructor(workspace: Branches, point: Point, gone: AbortSignal | undefined) {
    this.#workspace = workspace
    this.#point = point
    this.#gone = gone
  }

  /** All that `branch` has up to `last`, and then its parent up to where it began. */
  async read(branch: BranchId, last: number): Promise<void> {
    await this.#readLog(branch, last, () => true)
    const record = await this.#workspace.layers.findByBranch(branch)
    if (!record) return
    const parent = await this.#branchOf(record.parent)
    if (parent) await this.read(parent, record.originSeq)
  }

  async #branchOf(layer: string): Promise<BranchId | undefined> {
    const { layers, info } = this.#workspace
    if (layer === 'main') return (await this.#workspace.branch('main')).id
    return (await layers.find(info.id, layer))?.branch
  }

  async #readLog(id: BranchId, last: number, wants: (path: string) => boolean): Promise<void> {
    const { nodes, log } = this.#workspace.stores
    for await (const row of readDown(log, { id }, { first: 1, last }, 100)) {
      requirePresent(this.#gone)
      if (++this.#batches > batchesMax) return
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
      const batch = await nodes.run(decodeInSteps(row.bytes))
      if (batch.body.type === 'root') await this.#noteRoot(batch, batch.body.change, wants)
      else await this.#noteOperations(batch, wants)
    }
  }

  async #noteOperations(batch: Batch, wants: (path: string) => boolean): Promise<void> {
    const { operations } = await readPointInSteps(this.#workspace, this.#point, (view) =>
      describeBatch(view, batch),
    )
    for (const { path, to } of operations.toReversed())
      for (const each of [to, path]) if (each !== undefined) this.#note(each, batch.actor, wants)
  }

  #note(path: string, actor: string, wants: (path: string) => boolean): void {
    if (wants(path) && !this.actors.has(path)) this.actors.set(path, actor)
  }

  async #noteRoot(
    { actor }: Batch,
    { cause, subject, before, after }: RootChange,
    wants: (path: string) => boolean,
  ): Promise<void> {
    // A rebase brings what others did: their own log tells of it.
    if (cause === 'rebase') return
    const { nodes } = this.#workspace.stores
    try {
      const changed = await diffPaths(nodes, before, after)
      const paths = new Set(changed.map(({ path }) => formatPath(path)).filter(wants))
      if (cause === 'commit') await this.#readLayer(subject as BranchId, paths)
      for (const path of paths) this.#note(path, actor, wants)
    } catch (error) {
      // Trees of long ago.
      if (!isGone(error)) throw error
    }
  }

  async #readLayer(branch: BranchId, paths: ReadonlySet<string>): Promise<void> {
    const record = await this.#workspace.layers.findByBranch(branch)
    if (!record) return
    const opened = await this.#workspace.openBranch(branch)
    await this.#readLog(branch, opened.head.position.seq, (path) => paths.has(path))
  }
}
