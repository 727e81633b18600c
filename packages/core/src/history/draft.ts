import {
  type ActorId,
  type BranchId,
  CairnError,
  equalBytes,
  type ErrorCode,
  type Hash,
  isCairnError,
  isFsError,
  type SessionId,
} from '@cairn/protocol'
import { Changes } from '../filesystem/changes.ts'
import { laterTime } from '../filesystem/inode.ts'
import { isClosedState, type Position, type Time } from '../ports/records.ts'
import { takeNewOp } from '../filesystem/new-op.ts'
import type { Op } from '../filesystem/op.ts'
import { growthOf, type Limits, type Usage, usageOf } from '../filesystem/usage.ts'
import type { View } from '../filesystem/view.ts'
import type { HashFunction } from '../ports/hash.ts'
import type { Charge, LogRow } from '../ports/log-store.ts'
import type { Stores } from './stores.ts'
import type { Steps } from '../tree/steps.ts'
import {
  type Batch,
  batchBytesMax,
  type BatchBody,
  decodeInSteps,
  decodeOutline,
  encodeBodyInSteps,
  encodeInSteps,
} from './batch.ts'
import type { Head } from './head.ts'
import { hashOfBatch, referenceBody } from './reference.ts'
import { type Reservations, RoomPromised } from './reservations.ts'
import { requireTreeLevels } from './tree-levels.ts'

/** Who writes, and under which number. */
export interface Author {
  readonly session: SessionId
  readonly number: number
  readonly actor: ActorId
  /** The batch gets a later one where the batch before it has. */
  readonly time: Time
  /** The call of an agent's tool that it is part of. */
  readonly toolCall?: string | undefined
}

/** What a session asks a branch to take into its log. */
export interface Submission extends Author {
  /** The epoch the session believes in. */
  readonly epoch: number
  readonly ops: readonly Op[]
  /** Asked in its turn, before it is planned on `view`; refuses by rejecting. May be asked several times. */
  readonly check?: ((view: View) => Promise<void>) | undefined
  /**
   * The connection it came through. When one batch of a line gets no answer, those behind it on the
   * same line get none either: a client that sends them again finds their order kept.
   */
  readonly line?: object
  /** Instead of the branch's own. */
  readonly limits?: FindLimits | undefined
  readonly charge?: FindCharge | undefined
}

/** What a batch uses up of an account, once it is planned. */
export type FindCharge = () => Charge | undefined

/** How large the tree may become by a batch; undefined where nothing limits it. */
export type FindLimits = (body: BatchBody) => Promise<Limits | undefined>

export interface Receipt {
  readonly seq: number
  readonly hash: Hash
  /** As the batch noted it, also when it is sent again. */
  readonly answer?: string | undefined
}

export interface WaitingBatch {
  readonly author: Author
  /** Given by sessions, which may have lost their lease; the server's own batches are of any epoch. */
  readonly epoch: number | undefined
  /** A batch that sees the head as it is (everything but ops) gets a draft of its own. */
  readonly type: BatchBody['type']
  /** What the batch is, seen from where it will stand: after those before it in the draft. */
  readonly body: (place: DraftPlace) => Promise<BatchBody>
  /** Its number alone says which batch it is: what it becomes depends on what came before it. */
  readonly decided: boolean
  readonly check?: Submission['check']
  readonly line?: object | undefined
  readonly limits?: FindLimits | undefined
  readonly charge?: FindCharge | undefined
  /** What to note with the batch, once it is planned. */
  readonly answer?: (() => string | undefined) | undefined
  readonly resolve: (receipt: Receipt) => void
  readonly reject: (error: unknown) => void
}

export interface DraftPlace {
  readonly head: Head
  readonly view: View
}

interface Entry {
  readonly batch: Batch
  readonly row: LogRow
  readonly changes: Changes | undefined
  readonly charge: Charge | undefined
  /** Where a quota limits the branch. */
  readonly growth: Usage | undefined
  /** More than one when a batch was sent again while the first is on its way. */
  readonly waiting: WaitingBatch[]
}

type Planned = Pick<Entry, 'changes' | 'growth'> & Pick<Batch, 'body' | 'time'>

/** How large the tree may become, and what of that was promised. */
interface DraftRoom {
  readonly limits: FindLimits | undefined
  readonly reservations: Reservations
}

/** Batches that will go into the log together, each planned on top of those before it. */
export class Draft {
  readonly entries: Entry[] = []
  readonly #branch: BranchId
  readonly #stores: Stores
  readonly #head: Head
  readonly #changes: Changes
  readonly #lastNumbers = new Map<SessionId, number>()
  readonly #refused: { readonly waiting: WaitingBatch; readonly error: unknown }[] = []
  readonly #brokenLines: WeakSet<object>
  readonly #limits: FindLimits | undefined
  readonly #reservations: Reservations
  readonly #hash: HashFunction
  #position: Position

  constructor(
    branch: BranchId,
    stores: Stores,
    head: Head,
    brokenLines: WeakSet<object>,
    { limits, reservations }: DraftRoom,
  ) {
    this.#brokenLines = brokenLines
    this.#limits = limits
    this.#reservations = reservations
    reservations.beginDraft(head.position.epoch)
    this.#branch = branch
    this.#stores = stores
    this.#hash = stores.nodes.hash
    this.#head = head
    this.#changes = new Changes(head.view)
    this.#position = head.position
  }

  get charges(): readonly Charge[] {
    return this.entries.flatMap(({ charge }) => charge ?? [])
  }

  /** Whether something was refused for good. After `EAGAIN` the caller tries again, whatever the newest head says. */
  get hasRefused(): boolean {
    return this.#refused.some(({ error }) => !isFsError(error, 'EAGAIN'))
  }

  /** What is refused is told so by `answer`: the reason may be a batch before it that is not in the log yet. */
  async add(waiting: WaitingBatch): Promise<void> {
    try {
      this.#requireLine(waiting)
      await this.#take(waiting)
    } catch (error) {
      if (!isAnswer(error)) this.#breakLine(waiting)
      this.#refused.push({ waiting, error })
    }
  }

  /** The rows are in the log: the head moves on, the callers get their receipts, and `tell` hears of each batch. */
  async settle(tell: (batch: Batch, row: LogRow) => void): Promise<void> {
    for (const { batch, row, changes, growth, waiting } of this.entries) {
      const absorbed = this.#head.advance(batch, row.hash, changes)
      if (growth) this.#reservations.settle(batch.session, growth)
      for (const { resolve } of waiting) resolve(receiptOf(row))
      // In the same turn: a new listener finds a batch in the head or hears of it, never both.
      tell(batch, row)
      if (absorbed) await absorbed
      // The head and its listeners know of the same batches here, so others can have their turn.
      const { pacer } = this.#stores.nodes
      if (pacer.isDue()) await pacer.rest()
    }
    this.#refuse()
  }

  /** The rows are in the log, and the head knows it. */
  answer(): void {
    for (const { row, waiting } of this.entries)
      for (const { resolve } of waiting) resolve(receiptOf(row))
    this.#refuse()
  }

  #refuse(): void {
    for (const { waiting, error } of this.#refused) waiting.reject(error)
  }

  /** For all that have no answer yet. */
  fail(error: unknown): void {
    const unanswered = [
      ...this.entries.flatMap(({ waiting }) => waiting),
      ...this.#refused.map(({ waiting }) => waiting),
    ]
    for (const waiting of unanswered) {
      this.#breakLine(waiting)
      waiting.reject(error)
    }
  }

  #requireLine({ line, author }: WaitingBatch): void {
    if (line && this.#brokenLines.has(line))
      throw new CairnError('storage_unavailable', {
        what: `take batch ${author.number} of session ${author.session}`,
        reason: 'one before it has no answer',
        subject: author.session,
      })
  }

  #breakLine({ line }: WaitingBatch): void {
    if (line) this.#brokenLines.add(line)
  }

  async #take(waiting: WaitingBatch): Promise<void> {
    const { author } = waiting
    if (author.number <= (await this.#lastNumber(author.session))) return this.#answerAgain(waiting)
    if (waiting.epoch !== undefined && waiting.epoch !== this.#position.epoch)
      throw staleEpoch(waiting, this.#position)
    // Nothing looks at a closed branch any more: what is put there would be lost.
    if (waiting.type === 'ops' || waiting.type === 'root') this.#requireOpen()
    await waiting.check?.(this.#changes)
    const body = await waiting.body(this.#place)
    const changes =
      body.type === 'ops' ? await this.#head.plan(this.#changes, body.ops, takeNewOp) : undefined
    if (body.type === 'root')
      await requireTreeLevels(this.#stores.nodes, body.change.before, body.change.after)
    const limits = await (waiting.limits ?? this.#limits)?.(body)
    const growth = limits && (await this.#takeRoom(limits, author, body, changes))
    const time = laterTime(waiting.author.time, await this.#lastTime())
    try {
      // Only the queue changes a draft, so nothing comes between its steps.
      await this.#stores.nodes.run(this.#push(waiting, { body, changes, growth, time }))
    } catch (error) {
      if (growth) this.#reservations.undraft(author.session, growth)
      throw error
    }
  }

  /** What only makes the tree smaller is never refused: how else would it fit again? */
  async #takeRoom(
    limits: Limits,
    { session }: Author,
    body: BatchBody,
    changes: Changes | undefined,
  ): Promise<Usage | undefined> {
    const used = await this.#head.usage()
    const added = await this.#stores.nodes.readSteps(() => this.#growthBy(used, body, changes))
    if (!added) return undefined
    const short = this.#reservations.judge({ session, used, added }, limits)
    if (short?.isPromised) throw new RoomPromised()
    if (short) throw overQuota(this.#branch, short.what, short.wanted, limits[short.what])
    // At once: a promise that is made meanwhile must know of it.
    this.#reservations.draft(session, added)
    return added
  }

  *#growthBy(
    before: Usage,
    body: BatchBody,
    changes: Changes | undefined,
  ): Steps<Usage | undefined> {
    if (changes) return yield* growthOf(changes, this.#changes)
    if (body.type !== 'root') return undefined
    const { bytes, files } = usageOf(this.#stores.nodes, body.change.after)
    return { bytes: bytes - before.bytes, files: files - before.files }
  }

  get #place(): DraftPlace {
    return { head: this.#head, view: this.#changes }
  }

  /** Clocks of servers differ. The times of a log do not go back when another one writes on. */
  async #lastTime(): Promise<Time> {
    const { seq } = this.#position
    const drafted = this.entries.at(-1)?.batch.time ?? this.#head.lastTime
    if (drafted || seq === 0) return drafted ?? noTime
    const [row] = await this.#stores.log.read(this.#branch, seq - 1, 1)
    return row ? decodeOutline(row.bytes).time : noTime
  }

  *#push(waiting: WaitingBatch, { body, changes, growth, time }: Planned): Steps<void> {
    const { session, number, actor, toolCall } = waiting.author
    const { hash: previous } = this.#position
    const seq = this.#position.seq + 1
    const epoch = this.#position.epoch + (body.type === 'epoch' ? 1 : 0)
    const state = body.type === 'state' ? body.state : this.#position.state
    const batch: Batch = {
      branch: this.#branch,
      seq,
      epoch,
      session,
      number,
      actor,
      time,
      ...(toolCall === undefined ? {} : { toolCall }),
      body,
      previous,
    }
    const bytes = yield* encodeInSteps(batch)
    if (bytes.length > batchBytesMax) throw changeTooLarge()
    const hash = yield* hashOfBatch(batch, bytes, this.#hash)
    const row = { seq, session, number, bytes, hash, answer: waiting.answer?.() }
    const charge = waiting.charge?.()
    this.entries.push({ batch, row, changes, charge, growth, waiting: [waiting] })
    // Not before: what is refused as unwritable must not show to those that are planned after it.
    if (changes) yield* this.#changes.absorbInSteps(changes)
    this.#lastNumbers.set(session, number)
    this.#position = { seq, hash, epoch, state }
  }

  #requireOpen(): void {
    const { state } = this.#position
    if (!isClosedState(state)) return
    throw new CairnError('layer_closed', {
      what: `write to branch ${this.#branch}`,
      reason: `the layer is ${state}`,
      subject: this.#branch,
    })
  }

  async #lastNumber(session: SessionId): Promise<number> {
    return (
      this.#lastNumbers.get(session) ??
      this.#head.lastNumber(session) ??
      (await this.#stores.log.lastNumber(this.#branch, session))
    )
  }

  /** The session sent this number before: the first answer stands, whatever happened since. */
  async #answerAgain(waiting: WaitingBatch): Promise<void> {
    const { session, number } = waiting.author
    const drafted = this.entries.find(({ row }) => row.session === session && row.number === number)
    const row = drafted?.row ?? (await this.#stores.log.find(this.#branch, session, number))
    if (!row) throw passedOver(waiting.author)
    const sent = await this.#stores.nodes.run(decodeInSteps(row.bytes))
    if (!(await this.#isSame(waiting, sent))) throw mismatch(waiting.author)
    if (drafted) drafted.waiting.push(waiting)
    else waiting.resolve(receiptOf(row))
  }

  async #isSame(waiting: WaitingBatch, sent: Batch): Promise<boolean> {
    if (waiting.type !== sent.body.type) return false
    if (waiting.decided) return true
    if (waiting.author.toolCall !== sent.toolCall) return false
    const body = await waiting.body(this.#place)
    const hash = this.#hash
    const named = (one: BatchBody): Promise<Uint8Array> =>
      this.#stores.nodes.run(encodeReferenceInSteps(one, sent.time, hash))
    // The log may have lost its bytes since, and gave the batch a time of its own.
    return equalBytes(await named(body), await named(sent.body))
  }
}

export function receiptOf({ seq, hash, answer }: LogRow): Receipt {
  return { seq, hash, answer }
}

/** Before all others. */
const noTime: Time = { sec: Number.MIN_SAFE_INTEGER, nsec: 0 }

function staleEpoch({ author, epoch }: WaitingBatch, position: Position): CairnError {
  return new CairnError('stale_epoch', {
    what: `take batch ${author.number} of session ${author.session}`,
    reason: `it is of epoch ${epoch}, the branch is at ${position.epoch}`,
    subject: author.session,
  })
}

function mismatch(author: Author): CairnError {
  return new CairnError('batch_mismatch', {
    what: `take batch ${author.number} of session ${author.session}`,
    reason: 'another one has that number',
    subject: author.session,
  })
}

function passedOver(author: Author): CairnError {
  return new CairnError('batch_passed_over', {
    what: `take batch ${author.number} of session ${author.session}`,
    reason: 'a later one is in the log',
    subject: author.session,
  })
}

const answers: readonly ErrorCode[] = [
  'stale_epoch',
  'batch_mismatch',
  'batch_passed_over',
  'forbidden',
  'layer_closed',
  'malformed',
  'outside_layer',
  'quota_exceeded',
  'too_large',
]

/** Whether a refusal is true of the log, and not of a store that did not answer. */
export function isAnswer(error: unknown): boolean {
  return isFsError(error) || (isCairnError(error) && answers.includes(error.code))
}

function overQuota(branch: BranchId, what: keyof Usage, wanted: number, limit: number): CairnError {
  return new CairnError('quota_exceeded', {
    what: `write to branch ${branch}`,
    reason: `the tree would hold ${wanted} ${what}, and its quota is ${limit}`,
    subject: branch,
  })
}

export function changeTooLarge(): CairnError {
  return new CairnError('too_large', {
    what: `make a change of more than ${batchBytesMax} bytes at once`,
    reason: 'make it in parts, such as one directory after another',
  })
}

function* encodeReferenceInSteps(
  body: BatchBody,
  time: Time,
  hash: HashFunction,
): Steps<Uint8Array> {
  return yield* encodeBodyInSteps(yield* referenceBody(body, hash), time)
}
