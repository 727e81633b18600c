import { randomUUID } from 'node:crypto'
import { type Branch, decodeBody, isAnswer, type Receipt } from '@cairn/core'
import {
  type ActorId,
  CairnError,
  isCairnError,
  isFsError,
  type SessionId,
  type SessionReply,
  type SessionRequest,
  sessionVersion,
} from '@cairn/protocol'
import type { Workspace } from '../workspaces/workspace.ts'
import type { Connection } from './connection.ts'
import type { LeaseRecord } from './lease.ts'
import type { LeaseKeeper } from './lease-keeper.ts'
import { answerRead, type ReadRequest } from './reads.ts'
import { rescue } from './rescue.ts'

export interface SessionParts {
  readonly workspace: Workspace
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly actor: ActorId
  readonly leaseMs: number
}

type Hello = Extract<SessionRequest, { type: 'hello' }>
type Submit = Extract<SessionRequest, { type: 'submit' }>

const rowsAtOnce = 256
/** A reader that does not keep up is waited for, not buffered for. */
const bufferedBytesMax = 8 << 20
const bufferLookMs = 20

/** A connected writer or reader of a branch. Everything about it that another server needs is in the stores. */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #connection: Connection
  readonly #writes: boolean
  readonly #stop: (() => void)[] = []
  /** The newest batch the other end has been sent. */
  #sent: number
  #sending: Promise<void> = Promise.resolve()
  /** The standing the other end was last told. */
  #told = ''
  #isClosed = false

  private constructor(parts: SessionParts, connection: Connection, hello: Hello) {
    this.#parts = parts
    this.#connection = connection
    this.#writes = hello.mode === 'write'
    this.#sent = hello.seq
    this.id = (hello.session === '' ? `s_${randomUUID()}` : hello.session) as SessionId
  }

  static async open(parts: SessionParts, connection: Connection, hello: Hello): Promise<Session> {
    if (hello.version !== sessionVersion)
      throw new CairnError('unsupported_version', {
        message: `cannot speak version ${hello.version} of the session protocol: this server has ${sessionVersion}`,
      })
    const session = new Session(parts, connection, hello)
    await session.#start()
    return session
  }

  async #start(): Promise<void> {
    const { branch, keeper, leaseMs } = this.#parts
    await branch.refresh()
    if (this.#writes) await keeper.join(this.id)
    const { seq, epoch } = branch.head.position
    this.#send({ type: 'welcome', version: sessionVersion, session: this.id, seq, epoch, leaseMs })
    this.#stop.push(branch.subscribe(() => this.#forward()))
    if (this.#writes) this.#stop.push(keeper.subscribe((record) => this.#stand(record)))
    this.#forward()
    if (this.#writes) this.#stand(keeper.record)
  }

  async handle(request: SessionRequest): Promise<void> {
    switch (request.type) {
      case 'hello':
        throw new CairnError('malformed', { message: 'cannot say hello twice' })
      case 'submit':
        return this.#submit(request)
      case 'inode':
      case 'directory':
      case 'content':
      case 'blob':
      case 'inodes':
        return this.#answer(request)
      case 'released':
        return this.#parts.keeper.release(this.id, request.epoch)
      case 'renew':
        return this.#renew()
      case 'rescue':
        return this.#rescue(request)
      case 'bye':
        return this.close(true)
    }
  }

  /** `drained` when the other end has said goodbye: its place is free at once. */
  async close(drained: boolean): Promise<void> {
    this.#isClosed = true
    for (const stop of this.#stop.splice(0)) stop()
    if (drained && this.#writes) await this.#parts.keeper.leave(this.id)
    this.#connection.close()
  }

  async #submit(request: Submit): Promise<void> {
    const { number } = request
    try {
      const { seq, hash } = await this.#write(request)
      // DURABLE: the batch is in the log; the other end may forget it.
      this.#send({ type: 'receipt', number, seq, hash })
    } catch (error) {
      // Without an answer, and so nothing behind it has one either: the other end comes back and sends them again.
      if (!isAnswer(error) && !isCairnError(error, 'read_only')) throw error
      this.#send({ type: 'refused', number, ...failureOf(error) })
    }
  }

  async #write({ number, epoch, body }: Submit): Promise<Receipt> {
    const { branch, actor } = this.#parts
    if (!this.#writes)
      throw new CairnError('read_only', { message: 'cannot write: this session only reads' })
    const { time, ops } = decodeBody(body)
    return branch.submit({ session: this.id, number, epoch, actor, time, ops, line: this })
  }

  async #answer(request: ReadRequest): Promise<void> {
    const { id } = request
    try {
      this.#send({ type: 'answer', id, bytes: await answerRead(this.#parts, request) })
    } catch (error) {
      this.#send({ type: 'failure', id, ...failureOf(error) })
    }
  }

  async #rescue(request: Extract<SessionRequest, { type: 'rescue' }>): Promise<void> {
    const { id } = request
    try {
      this.#send({ type: 'answer', id, bytes: await rescue(this.#parts, this.id, request) })
    } catch (error) {
      this.#send({ type: 'failure', id, ...failureOf(error) })
    }
  }

  async #renew(): Promise<void> {
    const { keeper } = this.#parts
    if (!this.#writes) return
    // Given up while it was silent: it joins like anybody else, and learns the epoch it lost to.
    if (!(await keeper.renew(this.id))) await keeper.join(this.id)
    this.#stand(keeper.record)
  }

  /** Tells the other end how it may write, when that changes. */
  #stand({ holder, recalled, epoch }: LeaseRecord): void {
    if (holder !== undefined && holder !== this.id) return
    const standing = holder === undefined ? 'shared' : recalled ? 'recall' : 'lease'
    const told = `${standing} ${epoch}`
    if (told === this.#told) return
    this.#told = told
    this.#inOrder(async () => {
      // Behind the batches: whoever gets the lease knows everything that came before it.
      await this.#sendRowsUpTo(epoch)
      this.#send({ type: standing, epoch })
    })
  }

  /** Another server may have begun that epoch: then the batches before it are still to come. */
  async #sendRowsUpTo(epoch: number): Promise<void> {
    const { branch } = this.#parts
    if (branch.head.position.epoch < epoch) await branch.refresh()
    await this.#sendRows()
  }

  #forward(): void {
    this.#inOrder(() => this.#sendRows())
  }

  #inOrder(send: () => Promise<void>): void {
    this.#sending = this.#sending.then(send).catch(() => this.#connection.close())
  }

  /** Sends what the log has after what was sent. From the log and not from memory: a slow reader costs nothing. */
  async #sendRows(): Promise<void> {
    const { branch, workspace } = this.#parts
    while (this.#sent < branch.head.position.seq && !this.#isClosed) {
      await this.#whenRead()
      const rows = await workspace.stores.log.read(branch.id, this.#sent, rowsAtOnce)
      for (const { seq, bytes } of rows) {
        this.#send({ type: 'batch', bytes })
        this.#sent = seq
      }
    }
  }

  async #whenRead(): Promise<void> {
    const { clock } = this.#parts.workspace
    while (this.#connection.bufferedBytes > bufferedBytesMax && !this.#isClosed)
      await clock.sleep(bufferLookMs)
  }

  #send(reply: SessionReply): void {
    this.#connection.send(reply)
  }
}

export function failureOf(error: unknown): { code: string; message: string } {
  if (isFsError(error) || isCairnError(error)) return { code: error.code, message: error.message }
  return { code: 'internal', message: 'something unforeseen happened' }
}
