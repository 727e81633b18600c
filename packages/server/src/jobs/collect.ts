import type { Hash } from '@cairn/protocol'
import type { Storage } from '../storage/open.ts'
import type { ContentKind } from '../storage/survey-table.ts'
import { listPools, reachOf, sortBranches } from './pools.ts'

export interface Tally {
  readonly count: number
  readonly bytes: number
}

export interface CollectReport {
  readonly dryRun: boolean
  /** How many were deleted long enough ago to go, with their logs and checkpoints. */
  readonly branches: number
  /** What is stored and needed. */
  readonly kept: { readonly nodes: Tally; readonly blobs: Tally }
  /** What nobody can ask for any more: taken away, or with a dry run what would be. */
  readonly removed: { readonly nodes: Tally; readonly blobs: Tally }
}

export interface CollectOptions {
  readonly dryRun: boolean
  readonly nowMs: number
  /** What was deleted or rolled back for less than this is kept. */
  readonly graceMs: number
}

/**
 * Takes away nodes and blobs that no branch, checkpoint or upload leads to. Only while no server runs: one may be about
 * to write down a root that needs what is here already. A dry run may go beside servers, and then counts also what
 * they are writing at that moment.
 */
export async function collectGarbage(
  storage: Storage,
  { dryRun, nowMs, graceMs }: CollectOptions,
): Promise<CollectReport> {
  const kept = { nodes: nothing, blobs: nothing }
  const removed = { nodes: nothing, blobs: nothing }
  const endMs = nowMs - graceMs
  let branches = 0
  for (const pool of await listPools(storage)) {
    const { live, gone } = await sortBranches(storage, pool, new Date(endMs).toISOString())
    const reach = await reachOf(storage, pool, live, ({ time }) => time.sec * 1000 > endMs)
    branches += gone.length
    // Branches first: what they alone needed is then found again, whatever comes between.
    if (!dryRun) for (const branch of gone) await storage.survey.removeBranch(branch)
    for (const kind of ['nodes', 'blobs'] as const) {
      const sorted = await sort(storage, pool.id, kind, reach[kind])
      kept[kind] = add(kept[kind], sorted.kept)
      removed[kind] = add(removed[kind], sorted.unneeded)
      if (!dryRun) await storage.survey.remove(pool.id, kind, sorted.hashes)
    }
  }
  return { dryRun, branches, kept, removed }
}

async function sort(
  { survey }: Storage,
  pool: string,
  kind: ContentKind,
  needed: ReadonlySet<Hash>,
): Promise<{ kept: Tally; unneeded: Tally; hashes: readonly Hash[] }> {
  let [kept, unneeded] = [nothing, nothing]
  const hashes: Hash[] = []
  for await (const { hash, bytes } of survey.content(pool, kind)) {
    if (needed.has(hash)) kept = add(kept, { count: 1, bytes })
    else {
      unneeded = add(unneeded, { count: 1, bytes })
      hashes.push(hash)
    }
  }
  return { kept, unneeded, hashes }
}

const nothing: Tally = { count: 0, bytes: 0 }

function add(a: Tally, b: Tally): Tally {
  return { count: a.count + b.count, bytes: a.bytes + b.bytes }
}
