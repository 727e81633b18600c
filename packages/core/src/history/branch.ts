import { type BranchId, CairnError, equalBytes, isCairnError } from '@cairn/protocol'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from '../ports/stores.ts'
import { type BatchBody, type BranchState, decodeBatch, type RootChange } from './batch.ts'
import { type Author, Draft, type Receipt, type Submission, type Waiting } from './draft.ts'
import { type FoldPoint, Head } from './head.ts'

const rowsAtOnce = 256

/**
 * One line of history: head, and the log it is made from. All writes pass through one queue; whatever waits
 * when the log is free goes in together, because a durable append costs the same for one row and for many
 * (measured: 3.2k a second one by one, 105k by 64).
 */
export class Branch {
  readonly id: BranchId
  readonly head: Head
  readonly #stores: Stores
  #waiting: Waiting[] = []
  #running = false

  private constructor(id: BranchId, stores: Stores, head: Head) {
    this.id = id
    this.#stores = stores
    this.head = head
  }

  /** Rebuilds the head from its newest fold and the log after it. */
  static async open(stores: Stores, id: BranchId): Promise<Branch> {
    const { folded } = await stores.refs.getBranch(id)
    const branch = new Branch(id, stores, new Head(stores.nodes, stores.blobs, folded))
    await branch.catchUp()
    return branch
  }

  /**
   * All operations or none. Rejects with the errno of the first that fails, with `stale_epoch`, or with
   * `batch_mismatch`; a number that the log already has gives its receipt again.
   */
  submit(submission: Submission): Promise<Receipt> {
    const { ops, epoch, ...author } = submission
    return this.#enqueue({ author, epoch, type: 'ops', body: async () => ({ type: 'ops', ops }) })
  }

  /** Takes the lease away from whoever wrote in the present epoch. */
  raiseEpoch(author: Author): Promise<Receipt> {
    return this.#enqueue({
      author,
      epoch: undefined,
      type: 'epoch',
      body: async () => ({ type: 'epoch' }),
    })
  }

  /** Opens or closes the branch, unless it has moved on from `seq`: then rejects with `sequence_conflict`. */
  changeState(author: Author, state: BranchState, seq: number): Promise<Receipt> {
    const body = async (head: Head): Promise<BatchBody> => {
      if (head.position.seq === seq) return { type: 'state', state }
      throw new CairnError('sequence_conflict', {
        message: `cannot make branch ${this.id} ${state}: it has moved on`,
        subject: this.id,
      })
    }
    return this.#enqueue({ author, epoch: undefined, type: 'state', body })
  }

  /** Puts the head on another tree. `decide` sees the head folded; it may refuse by throwing. */
  changeRoot(author: Author, decide: (before: FoldPoint) => Promise<RootChange>): Promise<Receipt> {
    const body = async (head: Head): Promise<BatchBody> => ({
      type: 'root',
      change: await decide(await head.fold()),
    })
    return this.#enqueue({ author, epoch: undefined, type: 'root', body })
  }

  /** Folds the head and remembers it, so that opening the branch replays less. */
  async fold(): Promise<FoldPoint> {
    const folded = await this.head.fold()
    for (;;) {
      const record = await this.#stores.refs.getBranch(this.id)
      if (record.folded.seq >= folded.seq) return folded
      const updated = { ...record, folded, version: record.version + 1 }
      if (await this.#stores.refs.updateBranch(updated)) return folded
    }
  }

  /** Takes in what others have appended to the log. */
  async catchUp(): Promise<void> {
    for (;;) {
      const rows = await this.#stores.log.read(this.id, this.head.position.seq, rowsAtOnce)
      for (const row of rows) await this.#replay(row)
      if (rows.length < rowsAtOnce) return
    }
  }

  async #replay(row: LogRow): Promise<void> {
    const batch = decodeBatch(row.bytes)
    const { seq, hash } = this.head.position
    if (batch.seq !== seq + 1 || batch.previous !== hash || batch.branch !== this.id)
      throw new CairnError('chain_broken', {
        message: `cannot replay batch ${row.seq} of branch ${this.id}: it does not follow batch ${seq}`,
        subject: this.id,
      })
    const changes =
      batch.body.type === 'ops' ? await this.head.plan(this.head.view, batch.body.ops) : undefined
    this.head.advance(batch, this.#stores.nodes.hash(row.bytes), changes)
  }

  #enqueue(batch: Omit<Waiting, 'resolve' | 'reject'>): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...batch, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0) await this.#commitGroup(this.#takeGroup())
    this.#running = false
  }

  #takeGroup(): readonly Waiting[] {
    const alone = this.#waiting.findIndex(({ type }) => type === 'root' || type === 'state')
    const count = alone < 0 ? this.#waiting.length : Math.max(1, alone)
    return this.#waiting.splice(0, Math.min(count, rowsAtOnce))
  }

  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    while (group.length > 0) {
      const draft = new Draft(this.id, this.#stores, this.head)
      for (const waiting of group) {
        try {
          await draft.add(waiting)
        } catch (error) {
          waiting.reject(error)
        }
      }
      group = draft.entries.length > 0 ? await this.#append(draft) : []
    }
  }

  /** Gives those that must be tried again, because somebody else appended first. */
  async #append(draft: Draft): Promise<readonly Waiting[]> {
    try {
      await this.#stores.log.append(
        this.id,
        draft.entries.map(({ row }) => row),
      )
    } catch (error) {
      return this.#afterFailure(draft, error)
    }
    // DURABLE: the log store has the rows on disk; the receipts may go out.
    draft.settle()
    return []
  }

  /** An append that failed for another reason than a conflict may have happened all the same. */
  async #afterFailure(draft: Draft, error: unknown): Promise<readonly Waiting[]> {
    try {
      await this.catchUp()
      if (isCairnError(error, 'sequence_conflict')) return draft.waiting
      for (const { waiting, row, hash } of draft.entries) {
        const found = await this.#stores.log.find(this.id, row.session, row.number)
        const happened = found !== undefined && equalBytes(found.bytes, row.bytes)
        for (const { resolve, reject } of waiting)
          if (happened) resolve({ seq: row.seq, hash })
          else reject(error)
      }
    } catch {
      for (const { reject } of draft.waiting) reject(error)
    }
    return []
  }
}
