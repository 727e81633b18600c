import { type BranchId, CairnError, isCairnError, isFsError } from '@cairn/protocol'
import type { Changes } from '../filesystem/changes.ts'
import type { Op } from '../filesystem/op.ts'
import { growthOf, type Usage } from '../filesystem/usage.ts'
import type { View } from '../filesystem/view.ts'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from './stores.ts'
import { inSteps, type Steps } from '../tree/steps.ts'
import {
  type Batch,
  batchBytesMax,
  type BatchBody,
  decodeInSteps,
  type RootChange,
} from './batch.ts'
import type { BranchState, FoldPoint, Position } from '../ports/records.ts'
import {
  type Author,
  Draft,
  type FindCharge,
  type FindLimits,
  type DraftPlace,
  type Receipt,
  receiptOf,
  type Submission,
  type WaitingBatch,
} from './draft.ts'
import { Head } from './head.ts'
import { hashRowInSteps } from './reference.ts'
import { Reservations } from './reservations.ts'

const rowsAtOnce = 256
/**
 * The limit of one append. Databases bound a transaction: TiDB at 100 MiB by default, MariaDB by
 * the log it keeps in memory.
 */
const groupBytesMax = 16 << 20

export interface TransactOptions {
  /** The epoch the decision is for; any epoch unless given. */
  readonly epoch?: number | undefined
  readonly charge?: FindCharge | undefined
  /** What the receipt carries, also when the same number is sent again. Called once the operations are decided. */
  readonly answer?: (() => string | undefined) | undefined
}

/**
 * One line of history: head, and the log it is made from. All writes pass through one queue; whatever waits
 * when the log is free goes in together, because a durable append costs the same for one row and for many
 * (measured: 3.2k a second one by one, 105k by 64).
 */
export class Branch {
  readonly id: BranchId
  readonly head: Head
  readonly #stores: Stores
  readonly #listeners = new Set<(batch: Batch, row: LogRow) => void>()
  readonly #brokenLines = new WeakSet<object>()
  #waiting: WaitingBatch[] = []
  #refreshing: Pick<PromiseWithResolvers<void>, 'resolve' | 'reject'>[] = []
  #running = false
  /** Room under a quota that sessions were promised. */
  readonly reservations: Reservations = new Reservations()
  #limits: FindLimits | undefined

  private constructor(id: BranchId, stores: Stores, head: Head) {
    this.id = id
    this.#stores = stores
    this.head = head
  }

  /** Rebuilds the head from its newest fold and the log after it. */
  static async open(stores: Stores, id: BranchId): Promise<Branch> {
    const { folded } = await stores.refs.getBranch(id)
    const branch = new Branch(id, stores, new Head(stores.nodes, stores.blobs, folded))
    await branch.#catchUp()
    return branch
  }

  /**
   * All operations or none. Rejects with the errno of the first that fails, with `stale_epoch`, `batch_mismatch` or
   * `batch_passed_over`; a number that the log already has gives its receipt again.
   */
  submit(submission: Submission): Promise<Receipt> {
    const { ops, epoch, check, line, limits, charge, ...author } = submission
    const body = async (): Promise<BatchBody> => ({ type: 'ops', ops })
    const asked = { check, line, limits, charge }
    return this.#enqueue({ author, epoch, type: 'ops', decided: false, ...asked, body })
  }

  /**
   * Decides the operations where they will stand in the log: nothing comes between what `decide` saw and what it
   * asked for. It reads synchronously, in steps if it is long; it may run several times, and refuses by throwing.
   */
  transact(
    author: Author,
    decide: (view: View) => readonly Op[] | Steps<readonly Op[]>,
    { epoch, charge, answer }: TransactOptions = {},
  ): Promise<Receipt> {
    const body = async ({ view }: DraftPlace): Promise<BatchBody> => ({
      type: 'ops',
      ops: await this.#stores.nodes.readSteps(() => inSteps(decide(view))),
    })
    return this.#enqueue({ author, epoch, type: 'ops', decided: true, charge, answer, body })
  }

  /**
   * Ends the present epoch, or `epoch` alone if it is given (`stale_epoch` otherwise). `prepare` sees, folded,
   * exactly what will have come before the new one; it may run several times.
   */
  raiseEpoch(
    author: Author,
    prepare?: (before: FoldPoint) => Promise<void>,
    epoch?: number,
  ): Promise<Receipt> {
    const body = async ({ head }: DraftPlace): Promise<BatchBody> => {
      if (prepare) await prepare(await head.fold())
      return { type: 'epoch' }
    }
    return this.#enqueue({ author, epoch, type: 'epoch', decided: true, body })
  }

  /** Opens or closes the branch. `decide` sees the place it will stand after; it may refuse by throwing. */
  changeState(
    author: Author,
    decide: (before: Position) => BranchState,
    epoch?: number,
  ): Promise<Receipt> {
    const body = async ({ head }: DraftPlace): Promise<BatchBody> => ({
      type: 'state',
      state: decide(head.position),
    })
    return this.#enqueue({ author, epoch, type: 'state', decided: true, body })
  }

  /** Puts the head on another tree. `decide` sees the head folded; it may refuse by throwing. */
  changeRoot(
    author: Author,
    decide: (before: FoldPoint) => Promise<RootChange>,
    epoch?: number,
  ): Promise<Receipt> {
    const body = async ({ head }: DraftPlace): Promise<BatchBody> => ({
      type: 'root',
      change: await decide(await head.fold()),
    })
    return this.#enqueue({ author, epoch, type: 'root', decided: true, body })
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

  /** What makes the tree larger than these is refused with `quota_exceeded`. */
  limitBy(limits: FindLimits): void {
    this.#limits = limits
  }

  /**
   * Calls the listener with every batch, and its row, once it is in the log, in order, whichever session wrote
   * it. Returns a function that stops it.
   */
  subscribe(listener: (batch: Batch, row: LogRow) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Takes in what other servers have appended. In the queue with the writers: a batch must not come in twice. */
  refresh(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#refreshing.push({ resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #catchUp(): Promise<void> {
    for (;;) {
      const rows = await this.#stores.log.read(this.id, this.head.position.seq, rowsAtOnce)
      if (rows.length === 0) return
      const batches = await this.#checkAll(rows, this.head.position)
      const named = batches.find(namesContent)
      // No row after it was trimmed either, if no fold has this one by now.
      if (named && (await this.#jumpOver(named.seq))) continue
      for (const [index, row] of rows.entries()) await this.#replay(row, batches[index]!)
    }
  }

  async #checkAll(
    rows: readonly LogRow[],
    after: Pick<Position, 'seq' | 'hash'>,
  ): Promise<readonly Batch[]> {
    const batches: Batch[] = []
    for (const [index, row] of rows.entries())
      batches.push(await this.#stores.nodes.run(this.#check(row, rows[index - 1] ?? after)))
    return batches
  }

  *#check(row: LogRow, { seq, hash }: Pick<Position, 'seq' | 'hash'>): Steps<Batch> {
    yield
    if ((yield* hashRowInSteps(row.bytes, this.#stores.nodes.hash)) !== row.hash)
      throw this.#broken(row, 'its bytes have another hash')
    const batch = yield* decodeInSteps(row.bytes)
    if (batch.seq !== seq + 1 || batch.previous !== hash || batch.branch !== this.id)
      throw this.#broken(row, `it does not follow batch ${seq}`)
    if (row.seq !== batch.seq || row.session !== batch.session || row.number !== batch.number)
      throw this.#broken(row, 'it is filed as another one')
    return batch
  }

  async #replay(row: LogRow, batch: Batch): Promise<void> {
    const changes = batch.body.type === 'ops' ? await this.#replan(row, batch.body.ops) : undefined
    const growth = changes && (await this.#promisedGrowth(batch, changes))
    const absorbed = this.head.advance(batch, row.hash, changes)
    if (growth) this.reservations.settle(batch.session, growth)
    this.#tell(batch, row)
    if (absorbed) await absorbed
  }

  /** What a batch adds that was appended here, though the answer of the store was lost. */
  async #promisedGrowth({ session }: Batch, changes: Changes): Promise<Usage | undefined> {
    if (!this.reservations.has(session)) return undefined
    this.reservations.beginDraft(this.head.position.epoch)
    return this.#stores.nodes.readSteps(() => growthOf(changes, this.head.view))
  }

  /**
   * Another server has folded that batch: its content is in the fold and perhaps nowhere else, because the log was
   * trimmed. So the head takes the fold over, and everybody hears of the batches before it all the same. False when
   * no fold has it yet.
   */
  async #jumpOver(seq: number): Promise<boolean> {
    const { folded } = await this.#stores.refs.getBranch(this.id)
    if (folded.seq < seq) return false
    const passed: { readonly batch: Batch; readonly row: LogRow }[] = []
    let at: Pick<Position, 'seq' | 'hash'> = this.head.position
    while (at.seq < folded.seq) {
      const count = Math.min(rowsAtOnce, folded.seq - at.seq)
      const rows = await this.#stores.log.read(this.id, at.seq, count)
      if (rows.length === 0) throw this.#broken({ seq: at.seq + 1 }, 'it is gone')
      const batches = await this.#checkAll(rows, at)
      for (const [index, row] of rows.entries()) passed.push({ batch: batches[index]!, row })
      at = rows.at(-1)!
    }
    if (at.hash !== folded.hash) throw this.#broken({ seq: at.seq }, 'the fold is of another one')
    const batches = passed.map(({ batch }) => batch)
    this.head.jump(folded, batches)
    for (const { batch, row } of passed) this.#tell(batch, row)
    return true
  }

  #tell(batch: Batch, row: LogRow): void {
    for (const listener of this.#listeners) listener(batch, row)
  }

  /** An accepted operation must be accepted again: an errno here answers no call. */
  async #replan(row: LogRow, ops: readonly Op[]): Promise<Changes> {
    try {
      return await this.head.plan(this.head.view, ops)
    } catch (error) {
      if (isFsError(error)) throw this.#broken(row, 'an operation in it fails', error)
      throw error
    }
  }

  #broken(row: Pick<LogRow, 'seq'>, why: string, cause?: unknown): CairnError {
    return new CairnError('chain_broken', {
      what: `replay batch ${row.seq} of branch ${this.id}`,
      reason: why,
      subject: this.id,
      cause,
    })
  }

  #enqueue(batch: Omit<WaitingBatch, 'resolve' | 'reject'>): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...batch, resolve, reject })
      if (!this.#running) void this.#run()
    })
  }

  async #run(): Promise<void> {
    this.#running = true
    while (this.#waiting.length > 0 || this.#refreshing.length > 0) {
      await this.#serveRefreshes()
      await this.#commitGroup(this.#takeGroup())
    }
    this.#running = false
  }

  async #serveRefreshes(): Promise<void> {
    const refreshing = this.#refreshing
    this.#refreshing = []
    if (refreshing.length === 0) return
    try {
      await this.#catchUp()
      for (const { resolve } of refreshing) resolve()
    } catch (error) {
      for (const { reject } of refreshing) reject(error)
    }
  }

  #takeGroup(): readonly WaitingBatch[] {
    const alone = this.#waiting.findIndex(({ type }) => type !== 'ops')
    const count = alone < 0 ? this.#waiting.length : Math.max(1, alone)
    return this.#waiting.splice(0, Math.min(count, rowsAtOnce))
  }

  /**
   * Repeats until no other server appends in between: then every answer is true for the log as it
   * is.
   */
  async #commitGroup(group: readonly WaitingBatch[]): Promise<void> {
    for (;;) {
      const draft = new Draft(this.id, this.#stores, this.head, this.#brokenLines, {
        limits: this.#limits,
        reservations: this.reservations,
      })
      const taken = await this.#fill(draft, group)
      try {
        if (!(await this.#commit(draft))) continue
      } catch (error) {
        draft.fail(error)
      }
      this.#waiting.unshift(...group.slice(taken))
      return
    }
  }

  /** Gives how many of the group went in: no more once another batch might not fit. */
  async #fill(draft: Draft, group: readonly WaitingBatch[]): Promise<number> {
    let bytes = 0
    for (const [index, waiting] of group.entries()) {
      const { length } = draft.entries
      await draft.add(waiting)
      bytes += draft.entries[length]?.row.bytes.length ?? 0
      if (bytes > groupBytesMax - batchBytesMax) return index + 1
    }
    return group.length
  }

  /** False when another server appended first: then a refused batch may also be right now. */
  async #commit(draft: Draft): Promise<boolean> {
    const { seq } = this.head.position
    if (draft.entries.length === 0) {
      // No append will tell whether the head that refused them is still the newest.
      if (draft.hasRefused) await this.#catchUp()
      if (this.head.position.seq !== seq) return false
    }
    try {
      await this.#append(draft)
    } catch (error) {
      await this.#catchUp()
      if (isCairnError(error, 'sequence_conflict')) {
        // No other server appended, and yet it does not fit: the branch itself is gone, and
        // retrying would never end.
        if (this.head.position.seq === seq) await this.#stores.refs.getBranch(this.id)
        return false
      }
      await this.#answerAfterFailure(draft, error)
      return true
    }
    await draft.settle((batch, row) => this.#tell(batch, row))
    return true
  }

  async #append(draft: Draft): Promise<void> {
    if (draft.entries.length === 0) return
    await this.#stores.log.append(
      this.id,
      draft.entries.map(({ row }) => row),
      draft.charges,
    )
    // DURABLE: the log store has the rows on disk; the receipts may go out.
  }

  /**
   * An append that failed for another reason than a conflict may have happened all the same. Each row is looked
   * for: the first may be there alone, sent before through another server.
   */
  async #answerAfterFailure(draft: Draft, error: unknown): Promise<void> {
    let happened = 0
    for (const { waiting, row } of draft.entries) {
      const found = await this.#stores.log.find(this.id, row.session, row.number)
      if (found?.hash !== row.hash) continue
      for (const { resolve } of waiting) resolve(receiptOf(row))
      happened++
    }
    // What was refused was refused on top of all of them.
    if (happened === draft.entries.length) draft.answer()
    else draft.fail(error)
  }
}

/** What only a blob has: one that may have been no more than a name since the log was trimmed. */
function namesContent({ body }: Batch): boolean {
  return body.type === 'ops' && body.ops.some((op) => 'data' in op && op.data.type === 'blob')
}
