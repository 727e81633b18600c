import { Branch, decodeBatch, genesis, hashOfRow, Reach, type Stores } from '@cairn/core'
import { type BranchId, CairnError } from '@cairn/protocol'
import type { Storage } from '../storage/open.ts'
import { damageOf, listPools, sortBranches } from './pools.ts'

export interface CheckReport {
  readonly branches: number
  readonly batches: number
  readonly nodes: number
  readonly blobs: number
  /** What is damaged or gone, and of which branch. Empty when all is well. */
  readonly problems: readonly string[]
}

const rowsAtOnce = 256
/** After all times: what is deleted need not be whole. */
const everything = '9999'

/**
 * Reads everything that can be reached: each log along its chain, each node, each byte, compared with their hashes.
 * Changes nothing, and may run beside servers.
 */
export async function checkStores(storage: Storage): Promise<CheckReport> {
  const counts = { branches: 0, batches: 0, nodes: 0, blobs: 0 }
  const problems: string[] = []
  const attempt = async (about: string, work: () => Promise<void>): Promise<void> => {
    try {
      await work()
    } catch (error) {
      problems.push(`${about}: ${damageOf(error)}`)
    }
  }
  for (const pool of await listPools(storage)) {
    const { stores } = pool
    const reach = new Reach(stores)
    for (const branch of (await sortBranches(storage, pool, everything)).live) {
      counts.branches++
      await attempt(branch, async () => {
        counts.batches += await checkLog(stores, branch)
      })
      await attempt(branch, () => reach.addBranch(branch, () => false))
      await attempt(branch, async () => void (await Branch.open(stores, branch)))
    }
    for (const blob of reach.blobs)
      await attempt(pool.id, async () => void (await stores.blobs.read(blob)))
    counts.nodes += reach.nodes.size
    counts.blobs += reach.blobs.size
  }
  return { ...counts, problems: [...new Set(problems)] }
}

/** Gives the number of batches. Whether each can be applied is asked by opening the branch. */
async function checkLog({ log, nodes }: Stores, branch: BranchId): Promise<number> {
  let [seq, previous] = [0, genesis]
  for (;;) {
    const rows = await log.read(branch, seq, rowsAtOnce)
    if (rows.length === 0) return seq
    for (const row of rows) {
      const batch = decodeBatch(row.bytes)
      const fits = batch.seq === seq + 1 && batch.previous === previous && batch.branch === branch
      if (!fits || hashOfRow(row.bytes, nodes.hash) !== row.hash) throw brokenChain(branch, row.seq)
      seq = batch.seq
      previous = row.hash
    }
  }
}

function brokenChain(branch: BranchId, seq: number): CairnError {
  return new CairnError('chain_broken', {
    message: `cannot follow the log of ${branch}: batch ${seq} is not what came after the one before it`,
    subject: branch,
  })
}
