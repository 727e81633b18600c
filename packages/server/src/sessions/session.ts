import { randomUUID } from 'node:crypto'
import { type Branch, isAnswer, type Receipt, sessionIds } from '@cairn/core'
import {
  type ActorId,
  formatRescueOutcome,
  FewAtOnce,
  type Ino,
  isCairnError,
  type SessionId,
  type SessionReply,
  type SessionRequest,
  sessionVersion,
  toFailure,
} from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import { answerLock, type LockQuestion } from './answer-lock.ts'
import type { Waits } from '../leases/waits.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Member } from '../leases/audience.ts'
import { BatchWriter } from './batch-writer.ts'
import { answerConflicts } from './conflicts.ts'
import type { ClientSocket } from './connection.ts'
import { holdInodes } from './hold-inodes.ts'
import { outOfPlace, readsOnly } from './refusals.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import { mayWrite, standingOf, takeInBefore, toldOf, type WriterSession } from './lease-standing.ts'
import { findDirectory, headPlace, type ReadPlace } from './place.ts'
import { answerBytesOf, answerRead, type ReadRequest } from './reads.ts'
import { rescue, type RescueRequest } from './rescue.ts'
import { Room } from './room.ts'
import { Rows } from './rows.ts'
import { answerSharer, Sharer } from './sharer.ts'
import { noteTrace } from './traces.ts'
import { UnreadAnswers } from './unread-answers.ts'

export interface SessionParts {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly actor: ActorId
  readonly leaseMs: number
  /** Set when the caller is a token; limits what it can see. */
  readonly scope?: SessionScope
}

type Hello = Extract<SessionRequest, { type: 'hello' }>
type Submit = Extract<SessionRequest, { type: 'submit' }>

/** A mount asks some dozens at most. */
const questionsAtOnce = 64

/** A time and no operations: it brings nothing. */
const emptyBodyBytesMax = 16

/** A connected writer or reader of a branch. Everything about it that another server needs is in the stores. */
export class Session {
  readonly id: SessionId
  readonly #parts: SessionParts
  readonly #place: ReadPlace
  readonly #connection: ClientSocket
  readonly #writes: boolean
  readonly #hello: Hello
  readonly #stop: (() => void)[] = []
  readonly #room: Room
  readonly #unread: UnreadAnswers
  readonly #questions = new FewAtOnce(questionsAtOnce)
  readonly #notes = new FewAtOnce(1)
  /** Set for a session that gives single directories back. */
  readonly #sharer: Sharer | undefined
  readonly #writer: BatchWriter
  #member: Member | undefined
  #waits: Waits | undefined
  readonly #rows: Rows
  #sending: Promise<void> = Promise.resolve()
  /** The standing the other end was last told. */
  #told = ''
  /** The epoch of the lease that the session was told it has. */
  #heldEpoch: number | undefined
  #isClosed = false

  private constructor(parts: SessionParts, connection: ClientSocket, hello: Hello) {
    this.#parts = parts
    this.#place = headPlace(parts.workspace, parts.branch, parts.scope)
    this.#connection = connection
    this.#writes = hello.mode === 'write' || hello.mode === 'share'
    this.#hello = hello
    const { clock } = parts.workspace
    this.#unread = new UnreadAnswers(connection, clock, () => this.#isClosed)
    const { workspace, branch, scope } = parts
    this.id = parts.scope?.sessionId(hello.session) ?? idOf(hello.session)
    this.#rows = new Rows(parts, this.id, connection, hello.seq)
    if (hello.mode === 'share')
      this.#sharer = new Sharer(this.id, parts, (reply) =>
        this.#inOrder(async () => this.#send(reply)),
      )
    this.#room = new Room({
      session: this.id,
      branch,
      keeper: parts.keeper,
      quotas: workspace.quotas,
      scope,
      askBack: async () => (await this.#sharer?.askRoomBack()) ?? false,
      tell: () => this.#forward(),
    })
    const [session, room, sharer, { unused }] = [this.id, this.#room, this.#sharer, this.#place]
    this.#writer = new BatchWriter({ ...parts, scope, session, room, sharer, unused })
  }

  static async open(parts: SessionParts, connection: ClientSocket, hello: Hello): Promise<Session> {
    const session = new Session(parts, connection, hello)
    try {
      await session.#start()
    } catch (error) {
      session.#end()
      throw error
    }
    return session
  }

  async #start(): Promise<void> {
    const { branch, keeper, leaseMs } = this.#parts
    await branch.refresh()
    if (this.#writes) this.#parts.scope?.requireWriter()
    await this.#resumeScope()
    const root = await findDirectory(this.#place, this.#hello.path)
    const limit = await this.#parts.workspace.limitOf(branch.id)
    if (this.#writes) await this.#joinWriters()
    const { seq, epoch } = branch.head.position
    const [version, session] = [sessionVersion, this.id]
    this.#send({ type: 'welcome', version, session, seq, epoch, leaseMs, root })
    if (this.#writes && limit !== undefined) this.#send({ type: 'within', path: limit })
    this.#rows.sent = Math.min(this.#rows.sent, seq)
    this.#count()
    // A new session has nothing old. One that comes back says what it has.
    if (this.#hello.session === '') this.#see(seq)
    if (this.#writes) this.#beginWaits()
    const forward = (): Promise<void> => {
      this.#forward()
      return this.#sending
    }
    this.#stop.push(this.#rows.follow(forward, this.#writes))
    this.#stop.push(keeper.follow(this.#writes ? () => this.#stand() : undefined))
    this.#forward()
    if (this.#writes) this.#stand()
  }

  async #resumeScope(): Promise<void> {
    const { scope, branch, workspace } = this.#parts
    if (!scope || !this.#writes) return
    const { log } = workspace.stores
    await scope.begin(this.id, async () =>
      this.#hello.session === '' ? false : (await log.lastNumber(branch.id, this.id)) > 0,
    )
  }

  /**
   * In this order: later changes of the branch wait for this session, and earlier ones are in the head that the
   * session begins with.
   */
  async #joinWriters(): Promise<void> {
    const { keeper, workspace, branch } = this.#parts
    const { member, leave } = await keeper.joinAudience(this.id, this.#sharer !== undefined)
    this.#member = member
    this.#stop.push(leave)
    await keeper.join(this.id)
    this.#sharer?.join()
    this.#stop.push(() => this.#sharer?.leave())
    if (workspace.isShared) await branch.refresh()
  }

  #beginWaits(): void {
    const locks = this.#parts.workspace.locks(this.#parts.branch)
    const waits = locks.beginWaits(this.id)
    this.#waits = waits
    this.#stop.push(() => locks.endWaits(this.id, waits))
  }

  #count(): void {
    const { observe } = this.#parts.workspace
    const mode = this.#writes ? 'write' : 'read'
    observe.session?.(mode, 1)
    this.#stop.push(() => observe.session?.(mode, -1))
  }

  async handle(request: SessionRequest): Promise<void> {
    switch (request.type) {
      case 'hello':
      case 'revisit':
      case 'piece':
        throw outOfPlace(request.type)
      case 'submit':
        return this.#submit(request)
      case 'inode':
      case 'directory':
      case 'subtree':
      case 'ahead':
      case 'content':
      case 'seek':
      case 'changes':
      case 'nameless':
        return this.#unread.make(answerBytesOf(request), () =>
          this.#answer(request.id, () => this.#answerRead(request)),
        )
      // Their answers are small, and holding a blob back would take the memory that holding back is to save.
      case 'blob':
      case 'inodes':
        return this.#answer(request.id, () => this.#answerRead(request))
      case 'lock':
        return this.#answer(request.id, () => this.#answerLock(request))
      case 'blocker':
      case 'locks':
        return this.#answerInTurn(request.id, () => this.#answerLock(request))
      case 'cancel':
        return this.#waits?.cancel(request.question)
      case 'barrier':
        return this.#answerInTurn(request.id, () => this.#whenOthersHaveSeen(request.seq))
      case 'conflicts':
        return this.#answerInTurn(request.id, () => answerConflicts(this.#parts))
      case 'look':
      case 'claim':
        return this.#answerInTurn(request.id, () => this.#answerSharer(request))
      case 'done':
        return this.#sharer?.done(request.request)
      case 'rescue':
        return this.#answer(request.id, () => this.#rescue(request))
      case 'seen':
        return this.#see(request.seq)
      case 'hold':
        return this.#inTurn(() => holdInodes(this.#parts, this.id, request.inos))
      case 'trace':
        return this.#writes ? this.#inTurn(() => noteTrace(this.#parts, request)) : undefined
      case 'released':
        return this.#inTurn(() => this.#parts.keeper.release(this.id, request.epoch))
      case 'renew':
        return this.#inTurn(() => this.#renew())
      case 'bye':
        return this.close(true)
    }
  }

  /** `drained` when the other end has said goodbye: its place is free at once. */
  async close(drained: boolean): Promise<void> {
    this.#end()
    if (drained) await this.#parts.keeper.heldInodes.hold(this.id, [])
    if (drained && this.#writes) await this.#leave()
    this.#connection.close()
  }

  #end(): void {
    this.#isClosed = true
    this.#room.end()
    this.#rows.end()
    for (const stop of this.#stop.splice(0)) stop()
  }

  /** Its locks have no owner any more. */
  async #leave(): Promise<void> {
    const { keeper, workspace, branch } = this.#parts
    await keeper.leave(this.id)
    await this.#parts.scope?.end()
    workspace.locks(branch).wake()
  }

  async #submit(request: Submit): Promise<void> {
    const { number } = request
    try {
      const { seq, hash } = await this.#write(request)
      // DURABLE: the batch is in the log; the other end may forget it.
      const shown = this.#sharer?.isShown(seq) ? 1 : 0
      this.#send({ type: 'receipt', number, seq, hash, shown })
      if (request.body.length > emptyBodyBytesMax) this.#noteProgress()
    } catch (error) {
      // Without an answer, and so nothing behind it has one either: the other end comes back and sends them again.
      if (!isAnswer(error) && !isCairnError(error, 'read_only')) throw error
      this.#send({ type: 'refused', number, ...toFailure(error) })
      // The other end waits to hear how it stands now, also where that is the same again.
      if (isCairnError(error, 'stale_epoch')) this.#told = ''
    }
  }

  /** For the holder that is recalled. If the store fails here, the holder only loses time. */
  #noteProgress(): void {
    void this.#parts.keeper.noteProgress(this.id).catch(() => undefined)
  }

  async #write(request: Submit): Promise<Receipt> {
    this.#requireWriter('write')
    const receipt = await this.#writer.write(request)
    // Less of the budget is left now.
    if (this.#parts.scope?.budget) this.#forward()
    return receipt
  }

  async #answer(id: number, find: () => Promise<Uint8Array>): Promise<void> {
    try {
      this.#send({ type: 'answer', id, bytes: await find() })
    } catch (error) {
      this.#send({ type: 'failure', id, ...toFailure(error) })
    }
  }

  /** Each of these costs more than its few bytes: it waits for other sessions, or looks through a tree. */
  #answerInTurn(id: number, find: () => Promise<Uint8Array>): Promise<void> {
    return this.#questions.pass(() => this.#answer(id, find))
  }

  /** Each writes a row of the store that other sessions wait for: a flood of them takes its turn with each. */
  #inTurn(note: () => Promise<void>): Promise<void> {
    return this.#notes.pass(note)
  }

  async #answerRead(request: ReadRequest): Promise<Uint8Array> {
    const answer = await answerRead(this.#place, request)
    if (request.type === 'blob') this.#noteProgress()
    return answer
  }

  async #answerLock(question: LockQuestion): Promise<Uint8Array> {
    const { workspace, branch, keeper, scope } = this.#parts
    const [session, waits] = [this.id, this.#waits]
    if (scope && 'ino' in question)
      await workspace.read(branch, (view) => scope.require(view, 'read', question.ino))
    if (!waits) throw readsOnly('lock')
    const stayAlive = async (): Promise<void> => {
      if (!keeper.liveWriters.includes(session)) await this.#renew()
    }
    const whenGiven = async (ino: Ino): Promise<void> => this.#sharer?.lookAt(ino)
    return answerLock({ workspace, branch, session, waits, stayAlive, whenGiven }, question)
  }

  async #rescue(request: RescueRequest): Promise<Uint8Array> {
    this.#requireWriter('rescue')
    const outcome = await rescue(this.#parts, this.id, request)
    return new TextEncoder().encode(formatRescueOutcome(outcome))
  }

  #requireWriter(what: string): void {
    if (this.#writes) return
    throw readsOnly(what)
  }

  #see(seq: number): void {
    if (this.#member) this.#parts.keeper.audience.see(this.#member, seq)
  }

  async #whenOthersHaveSeen(seq: number): Promise<Uint8Array> {
    const { keeper, branch, workspace } = this.#parts
    const isHeldByOther = keeper.holders.some((holder) => holder !== this.id)
    const sharesWithHolders = this.#sharer && keeper.sharingHolders.length > 0
    if (isHeldByOther && !sharesWithHolders) {
      await keeper.whenHandedBack(this.id)
      if (workspace.isShared) await branch.refresh()
      // What the holder handed in comes before the answer.
      this.#forward()
      await this.#sending
    }
    await keeper.whenSeen(seq, this.id, this.#sharer?.changedAt(seq))
    return new Uint8Array()
  }

  async #renew(): Promise<void> {
    const { keeper } = this.#parts
    if (!this.#writes || this.#isClosed) return
    // Given up while it was silent: it joins like any other session, and learns the epoch it lost to.
    if (!(await keeper.renew(this.id))) await keeper.rejoin(this.id)
    this.#stand()
    this.#forward()
  }

  #stand(): void {
    this.#inOrder(() => this.#tellStanding())
  }

  /** Tells the other end how it may write, when that changes. */
  async #tellStanding(): Promise<void> {
    const { keeper, workspace } = this.#parts
    const { record } = keeper
    const { epoch } = record
    if (!mayWrite(this.#writing, record)) return
    // Behind the batches: the lease holder knows everything that came before its lease.
    await takeInBefore(record, this.#writing, this.#told, workspace.isShared)
    await this.#rows.send()
    const standing = standingOf(this.#writing, record)
    const told = toldOf(standing, record)
    if (told === this.#told) return
    this.#told = told
    const holds = standing === 'lease' || standing === 'among'
    // A holder that hears of its lease again has acknowledged by the room that it was told.
    const goesOn = holds && epoch === this.#heldEpoch
    if (standing !== 'recall')
      await this.#tellRoom(() => (goesOn ? this.#room.raise() : this.#room.begin(holds)))
    this.#heldEpoch = holds ? epoch : undefined
    if (holds) keeper.sharing.noteLease(this.id)
    if (holds && this.#sharer?.comesBeside(epoch)) this.#send({ type: 'beside', epoch })
    this.#send({ type: standing, epoch })
    this.#sharer?.noteTold(standing, epoch)
  }

  get #writing(): WriterSession {
    const { branch, keeper } = this.#parts
    return { session: this.id, branch, keeper, sharer: this.#sharer }
  }

  async #answerSharer(
    question: Extract<SessionRequest, { type: 'look' | 'claim' }>,
  ): Promise<Uint8Array> {
    const answer = await answerSharer(this.#sharer, question)
    // The batches before that place go first.
    this.#forward()
    await this.#sending
    return answer
  }

  #forward(): void {
    this.#inOrder(async () => {
      await this.#rows.send()
      if (!this.#writes) return
      await this.#tellRoom(() => this.#room.raise())
      // The layer may be over since, or open again.
      if (this.#told !== '') await this.#tellStanding()
    })
  }

  /** Behind the batches it counts. */
  async #tellRoom(look: () => Promise<void>): Promise<void> {
    await look()
    if (!this.#room.isLimited) return
    const { head } = this.#parts.branch
    let used = await head.usage()
    while (this.#rows.sent < head.position.seq && !this.#isClosed) {
      await this.#rows.send()
      used = await head.usage()
    }
    for (const reply of this.#room.tell(used)) this.#send(reply)
  }

  #inOrder(send: () => Promise<void>): void {
    this.#sending = this.#sending.then(send).catch(() => this.#connection.close())
  }

  #send(reply: SessionReply): void {
    this.#connection.send(reply)
  }
}

function idOf(wanted: string): SessionId {
  return wanted === '' ? sessionIds.newSession(randomUUID()) : (wanted as SessionId)
}
