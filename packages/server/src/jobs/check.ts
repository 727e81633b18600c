import {
  Branch,
  decodeOutline,
  findLostBatches,
  genesis,
  hashRowInSteps,
  type LogMemory,
  newLogMemory,
  Reach,
} from '@cairn/core'
import { type BranchId, CairnError, type Hash } from '@cairn/protocol'
import type { Storage } from '../storage/open.ts'
import { damageOf, DamageTracer, type Finding, pointsOf, type Problem, Problems } from './damage.ts'
import { listPools, type Pool, scratchStores, sortBranches } from './pools.ts'

export interface CheckReport {
  readonly branches: number
  readonly batches: number
  readonly nodes: number
  readonly blobs: number
  /** All that is damaged or gone. Empty when all is well. */
  readonly problems: readonly Problem[]
}

const rowsAtOnce = 256
/** After all times: what is deleted need not be whole. */
const everything = '9999'

/**
 * Reads everything that can be reached: each log along its chain, each node, each byte, compared with their hashes.
 * Replays each log in memory, and compares with the trees that are known.
 * Changes nothing, and may run beside servers. What is damaged does not keep it from the rest.
 */
export async function checkStores(storage: Storage): Promise<CheckReport> {
  const report = { branches: 0, batches: 0, nodes: 0, blobs: 0 }
  const problems: Problem[] = []
  for (const pool of await listPools(storage)) {
    const check = new PoolCheck(storage, pool)
    const counts = await check.run()
    for (const key of ['branches', 'batches', 'nodes', 'blobs'] as const) report[key] += counts[key]
    problems.push(...counts.problems)
  }
  return { ...report, problems }
}

interface CheckedBranch {
  readonly id: BranchId
  /** `main of w`, `layer fix-auth-a of w` */
  readonly name: string
  readonly memory: LogMemory
}

class PoolCheck {
  readonly #storage: Storage
  readonly #pool: Pool
  readonly #problems = new Problems()

  constructor(storage: Storage, pool: Pool) {
    this.#storage = storage
    this.#pool = pool
  }

  async run(): Promise<CheckReport> {
    const { stores } = this.#pool
    let [name, batches] = ['', 0]
    const reach = new Reach(stores, undefined, (error, node) =>
      node === undefined ? this.#problems.note(error, name) : this.#problems.noteThing(error, node),
    )
    const branches: CheckedBranch[] = []
    for (const id of (await sortBranches(this.#storage, this.#pool, everything)).live) {
      name = await this.#nameOf(id)
      const memory = newLogMemory()
      branches.push({ id, name, memory })
      batches += await this.#checkLog(id, name)
      await reach.addBranch(id, () => false, memory)
      await Branch.open(stores, id).catch((error: unknown) =>
        this.#problems.noteUnlessKnown(error, name),
      )
    }
    for (const blob of reach.blobs)
      await stores.blobs.read(blob).catch((error: unknown) => this.#problems.noteThing(error, blob))
    for (const { id, name } of branches) await this.#checkEffects(id, name)
    await this.#trace(branches)
    return {
      branches: branches.length,
      batches,
      nodes: reach.nodes.size,
      blobs: reach.blobs.size,
      problems: this.#problems.list(),
    }
  }

  async #nameOf(id: BranchId): Promise<string> {
    const workspace = this.#pool.workspaces.find((each) => id.startsWith(`${each.id}/`))
    const place = workspace?.name ?? this.#pool.id
    if (id === `${workspace?.id}/main`) return `main of ${place}`
    const layer = await this.#storage.layers.findByBranch(id)
    return layer ? `layer ${layer.name ?? layer.id} of ${place}` : `${id} of ${place}`
  }

  /** Gives the number of batches. Whether each can be applied is asked by opening the branch. */
  async #checkLog(branch: BranchId, name: string): Promise<number> {
    const { log, nodes } = this.#pool.stores
    let [seq, previous, count] = [0, genesis, 0]
    for (;;) {
      const rows = await log.read(branch, seq, rowsAtOnce)
      if (rows.length === 0) return count
      for (const row of rows) {
        const isSound =
          follows(row.bytes, { branch, seq, previous }) &&
          (await nodes.run(hashRowInSteps(row.bytes, nodes.hash))) === row.hash
        if (!isSound) this.#problems.note(brokenChain(branch, row.seq), name)
        seq = row.seq
        previous = row.hash
        count++
      }
    }
  }

  /** Whether each batch that is in the log is in the trees that came after it. */
  async #checkEffects(branch: BranchId, name: string): Promise<void> {
    const { log, refs } = this.#pool.stores
    const stores = { ...scratchStores(this.#storage, this.#pool), log, refs }
    try {
      for await (const { first, last, point } of findLostBatches(stores, branch))
        this.#problems.note(lostBatches(branch, first, last, point), name)
    } catch (error) {
      // A damaged row was found along the chain.
      damageOf(error)
    }
  }

  /** Says of each thing which branches need it. Costs nothing when all is well. */
  async #trace(branches: readonly CheckedBranch[]): Promise<void> {
    const { things } = this.#problems
    if (things.size === 0) return
    const { stores } = this.#pool
    const tracer = new DamageTracer(stores, things)
    for (const { id, name, memory } of branches) {
      const note = (point: string, findings: readonly Finding[]): void => {
        for (const { thing, path } of findings)
          this.#problems.belongs(thing, path === undefined ? name : `${path} in ${name}`, point)
      }
      for await (const [point, snapshot] of pointsOf(stores, id, memory))
        note(point, await tracer.inSnapshot(snapshot))
      const { folded } = await stores.refs.getBranch(id)
      note('log', await tracer.inLog(id, folded.seq))
    }
  }
}

interface CheckedPlace {
  readonly branch: BranchId
  readonly seq: number
  readonly previous: Hash
}

/** Whether a row's batch says that it comes after that one. */
function follows(bytes: Uint8Array, { branch, seq, previous }: CheckedPlace): boolean {
  try {
    const batch = decodeOutline(bytes)
    return batch.seq === seq + 1 && batch.previous === previous && batch.branch === branch
  } catch (error) {
    damageOf(error)
    return false
  }
}

function lostBatches(branch: BranchId, first: number, last: number, point: string): CairnError {
  const batches = first === last ? `batch ${last}` : `batches ${first} to ${last}`
  return new CairnError('chain_broken', {
    what: `find all that ${batches} of ${branch} did`,
    reason: `replayed, they give another tree than ${point}`,
    subject: branch,
  })
}

function brokenChain(branch: BranchId, seq: number): CairnError {
  return new CairnError('chain_broken', {
    what: `follow the log of ${branch}`,
    reason: `batch ${seq} is not what came after the one before it`,
    subject: branch,
  })
}
