import {
  type ActorId,
  type BranchId,
  CairnError,
  equalBytes,
  type Hash,
  type SessionId,
} from '@cairn/protocol'
import { Changes } from '../filesystem/changes.ts'
import type { Time } from '../filesystem/inode.ts'
import type { Op } from '../filesystem/op.ts'
import type { LogRow } from '../ports/log-store.ts'
import type { Stores } from '../ports/stores.ts'
import {
  type Batch,
  batchBytesMax,
  type BatchBody,
  decodeBatch,
  encodeBatch,
  encodeBody,
} from './batch.ts'
import type { Head, Position } from './head.ts'

/** Who writes, and under which number. */
export interface Author {
  readonly session: SessionId
  readonly number: number
  readonly actor: ActorId
  readonly time: Time
}

/** What a session asks a branch to take into its log. */
export interface Submission extends Author {
  /** The epoch the session believes in. */
  readonly epoch: number
  readonly ops: readonly Op[]
}

export interface Receipt {
  readonly seq: number
  readonly hash: Hash
}

export interface Waiting {
  readonly author: Author
  /** Given by sessions, which may have lost their lease; the server's own batches are of any epoch. */
  readonly epoch: number | undefined
  /** What sees the head as it is (a root change, a state) shares its draft with nobody. */
  readonly type: BatchBody['type']
  readonly body: (head: Head) => Promise<BatchBody>
  readonly resolve: (receipt: Receipt) => void
  readonly reject: (error: unknown) => void
}

interface Entry {
  readonly batch: Batch
  readonly row: LogRow
  readonly hash: Hash
  readonly changes: Changes | undefined
  /** More than one when a batch was sent again while the first is on its way. */
  readonly waiting: Waiting[]
}

/** Batches that will go into the log together, each planned on top of those before it. */
export class Draft {
  readonly entries: Entry[] = []
  readonly #branch: BranchId
  readonly #stores: Stores
  readonly #head: Head
  readonly #changes: Changes
  readonly #lastNumbers = new Map<SessionId, number>()
  #position: Position

  constructor(branch: BranchId, stores: Stores, head: Head) {
    this.#branch = branch
    this.#stores = stores
    this.#head = head
    this.#changes = new Changes(head.view)
    this.#position = head.position
  }

  get waiting(): readonly Waiting[] {
    return this.entries.flatMap(({ waiting }) => waiting)
  }

  async add(waiting: Waiting): Promise<void> {
    const { author } = waiting
    if (author.number <= (await this.#lastNumber(author.session))) return this.#answerAgain(waiting)
    if (waiting.epoch !== undefined && waiting.epoch !== this.#position.epoch)
      throw staleEpoch(waiting, this.#position)
    if (waiting.type === 'ops') this.#requireOpen()
    const body = await waiting.body(this.#head)
    this.#push(waiting, body, body.type === 'ops' ? await this.#plan(body.ops) : undefined)
  }

  /** The rows are in the log: the head moves on, and whoever waits gets the receipt. */
  settle(): void {
    for (const { batch, hash, changes, waiting } of this.entries) {
      this.#head.advance(batch, hash, changes)
      for (const { resolve } of waiting) resolve({ seq: batch.seq, hash })
    }
  }

  async #plan(ops: readonly Op[]): Promise<Changes> {
    const changes = await this.#head.plan(this.#changes, ops)
    this.#changes.absorb(changes)
    return changes
  }

  #push(waiting: Waiting, body: BatchBody, changes: Changes | undefined): void {
    const { session, number, actor, time } = waiting.author
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
      body,
      previous,
    }
    const bytes = encodeBatch(batch)
    if (bytes.length > batchBytesMax) throw tooLarge(bytes.length)
    const hash = this.#stores.nodes.hash(bytes)
    const row = { seq, session, number, bytes }
    this.entries.push({ batch, row, hash, changes, waiting: [waiting] })
    this.#lastNumbers.set(session, number)
    this.#position = { seq, hash, epoch, state }
  }

  #requireOpen(): void {
    const { state } = this.#position
    if (state === 'open' || state === 'conflicted') return
    throw new CairnError('layer_closed', {
      message: `cannot write to branch ${this.#branch}: it is ${state}`,
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
  async #answerAgain(waiting: Waiting): Promise<void> {
    const { session, number } = waiting.author
    const drafted = this.entries.find(({ row }) => row.session === session && row.number === number)
    const row = drafted?.row ?? (await this.#stores.log.find(this.#branch, session, number))
    if (!row || !(await this.#isSame(waiting, decodeBatch(row.bytes))))
      throw mismatch(waiting.author)
    if (drafted) drafted.waiting.push(waiting)
    else waiting.resolve({ seq: row.seq, hash: this.#stores.nodes.hash(row.bytes) })
  }

  /** What a root change becomes depends on the head; its number alone says which one it is. */
  async #isSame(waiting: Waiting, sent: Batch): Promise<boolean> {
    if (waiting.type !== sent.body.type) return false
    if (waiting.type !== 'ops') return true
    const body = await waiting.body(this.#head)
    return equalBytes(encodeBody(body, waiting.author.time), encodeBody(sent.body, sent.time))
  }
}

function staleEpoch({ author, epoch }: Waiting, position: Position): CairnError {
  return new CairnError('stale_epoch', {
    message: `cannot take batch ${author.number} of session ${author.session}: it is of epoch ${epoch}, the branch is at ${position.epoch}`,
    subject: author.session,
  })
}

function mismatch(author: Author): CairnError {
  return new CairnError('batch_mismatch', {
    message: `cannot take batch ${author.number} of session ${author.session}: that number is behind it`,
    subject: author.session,
  })
}

function tooLarge(length: number): CairnError {
  return new CairnError('malformed', {
    message: `cannot take a batch of ${length} bytes: ${batchBytesMax} are allowed`,
  })
}
