import { homesOf, type Op, type Receipt, type View } from '@cairn/core'
import {
  CairnError,
  type Ino,
  type SessionId,
  type SessionReply,
  type SessionRequest,
  Writer,
} from '@cairn/protocol'
import type { LeaseStanding } from './lease-standing.ts'
import type { SessionParts } from './session.ts'
import { concernedBy, type Given } from '../leases/given.ts'
import { type Connected, yieldMsMax } from '../leases/sharing.ts'

/** Throws MoreDirectories where a batch, at its place in the log, concerns directories of others. */
export type RequireGiven = (view: View) => Promise<void>

type Question = Extract<SessionRequest, { type: 'look' | 'claim' }>

const directoriesAtOnce = 1000
/** A barrier follows soon, or never. */
const changedMax = 64

/** The part of a session that gives single directories back, and asks for those of others. */
export class Sharer implements Connected {
  readonly session: SessionId
  readonly mayHoldBeside: boolean
  readonly #parts: SessionParts
  readonly #send: (reply: SessionReply) => void
  readonly #told = Promise.withResolvers<void>()
  readonly #asked = new Map<number, (isDone: boolean) => void>()
  #lastId = 0
  #hasLeft = false
  /** The epoch of the last standing over this connection in which it may write. */
  #standingEpoch: number | undefined
  /** What the other end cached before this connection counts no more, and it has not heard of that yet. */
  isBeside = false
  /** The directories that the last changes concern, by their place in the log. */
  readonly #changed = new Map<number, readonly Ino[]>()
  /** Resolves when the last change is in line for the log, behind those before it. */
  #inLine: Promise<void> = Promise.resolve()

  /** `send` sends behind what was to be sent before. */
  constructor(session: SessionId, parts: SessionParts, send: (reply: SessionReply) => void) {
    const { scope } = parts
    this.session = session
    this.#parts = parts
    this.#send = send
    // A holder beside others must see which directories they make.
    this.mayHoldBeside = !scope || scope.seesAll
  }

  join(): void {
    this.isBeside = this.#parts.keeper.sharing.join(this)
  }

  /**
   * Whether a holder is to hear first that it comes to an epoch of several: what it knows of a directory counts only
   * after a look, and no directory is its own. Otherwise it takes all of them for its own.
   */
  comesBeside(epoch: number): boolean {
    const isFirst = this.#standingEpoch !== epoch
    return this.isBeside || (isFirst && this.#parts.keeper.sharing.isSplit)
  }

  /** The other end has heard how it stands, and before that that it is beside others if it had to. */
  noteTold(standing: LeaseStanding, epoch: number): void {
    const { holders, sharing } = this.#parts.keeper
    if (standing !== 'recall') this.#standingEpoch = epoch
    const hasHeard = standing !== 'recall' && standing !== 'shared'
    // The holder has left since this session joined.
    if (standing === 'shared' && this.isBeside) sharing.noteAllShown(this.session)
    if (hasHeard || holders.length === 0) this.isBeside = false
    this.#told.resolve()
  }

  leave(): void {
    this.#told.resolve()
    this.#hasLeft = true
    this.#parts.keeper.sharing.leave(this)
    for (const answer of this.#asked.values()) answer(false)
    this.#asked.clear()
  }

  async ask(type: 'yield' | 'forget', inos: readonly Ino[]): Promise<boolean> {
    const visible = await this.#visible(inos)
    return visible.length === 0 || this.#ask((id) => ({ type, id, inos: visible }))
  }

  /** Resolves when the other end counts on no room any more and has handed in; false when it does not answer. */
  askRoomBack(): Promise<boolean> {
    const late = this.#parts.workspace.clock.sleep(yieldMsMax).then(() => false)
    return Promise.race([this.#ask((id) => ({ type: 'share', id, bytes: 0, files: 0 })), late])
  }

  async #ask(question: (id: number) => SessionReply): Promise<boolean> {
    // It is about what the other end got with its standing.
    await this.#told.promise
    if (this.#hasLeft) return false
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#asked.set(id, resolve)
    this.#send(question(id))
    return promise
  }

  done(id: number): void {
    this.#asked.get(id)?.(true)
    this.#asked.delete(id)
  }

  async answer({ type, inos }: Question): Promise<Uint8Array> {
    const { keeper, branch } = this.#parts
    const { sharing } = keeper
    if (inos.length > directoriesAtOnce)
      throw new CairnError('too_large', {
        what: `${type} ${inos.length} directories`,
        reason: `at most ${directoriesAtOnce} at once`,
      })
    const writer = new Writer(16)
    if (type === 'look') await sharing.look(this.session, await this.#present(inos))
    // A claim of none is one of all.
    else if (!(await this.#mayClaim(inos))) writer.u8(0)
    else writer.u8((await this.#claim(inos)) ? 1 : 0)
    return writer.varint(branch.head.position.seq).finish()
  }

  /** Others wait for the holder of a directory: a token holds none in which it may change nothing. */
  async #mayClaim(inos: readonly Ino[]): Promise<boolean> {
    const { scope, workspace, branch } = this.#parts
    const present = await this.#present(inos)
    if (present.length < inos.length || !scope) return present.length === inos.length
    return workspace.read(branch, (view) => inos.every((ino) => scope.mayChangeIn(view, ino)))
  }

  async #claim(inos: readonly Ino[]): Promise<boolean> {
    const { keeper, branch } = this.#parts
    if (!(await keeper.sharing.claim(this.session, inos))) return false
    // Changes that were planned while others could make them come first.
    await branch.refresh()
    return true
  }

  /** The server has all that was acknowledged about the file when this resolves. */
  async lookAt(ino: Ino): Promise<void> {
    const { keeper, workspace, branch } = this.#parts
    const inos = await workspace.read(branch, (view) => homesOf(view, ino))
    await keeper.sharing.look(this.session, inos)
  }

  /** A holder's batches concern what is its own. Others wait until holders have given that back. */
  async write(
    ops: readonly Op[],
    write: (given?: RequireGiven) => Promise<Receipt>,
  ): Promise<Receipt> {
    const { session } = this
    const { keeper } = this.#parts
    const { sharing } = keeper
    let last: Given | undefined
    const writeGiven = (given: Given | undefined): Promise<Receipt> => {
      last = given
      return write(this.#requireGiven(ops, given))
    }
    const written = keeper.holds(session)
      ? sharing.changeByHolder(session, writeGiven)
      : this.#writeInOrder(ops, writeGiven)
    const receipt = await written
    if (last?.changed) this.#noteChanged(receipt.seq, last.changed)
    return receipt
  }

  /**
   * The log takes numbers only as they grow, so a change gets in line when the one before it is there. It does not wait
   * until that one is in the log: what comes while the log is busy goes into it together. What a change has to wait for
   * is asked for at once.
   */
  #writeInOrder(
    ops: readonly Op[],
    write: (given: Given | undefined) => Promise<Receipt>,
  ): Promise<Receipt> {
    const { session } = this
    const { sharing } = this.#parts.keeper
    const concerned = this.#concerned(ops)
    const given = concerned.then((inos) => sharing.whenGiven(session, inos))
    const { promise: inLine, resolve: noteInLine } = Promise.withResolvers<void>()
    const getInLine = (granted: Given | undefined): Promise<Receipt> => {
      const written = write(granted)
      noteInLine()
      return written
    }
    const written = Promise.all([concerned, given, this.#inLine]).then(([inos]) =>
      sharing.change(session, getInLine, inos),
    )
    this.#inLine = inLine
    written.then(() => sharing.noteWriter(session)).catch(noteInLine)
    return written
  }

  #noteChanged(seq: number, inos: readonly Ino[]): void {
    if (this.#changed.size >= changedMax) this.#changed.clear()
    this.#changed.set(seq, inos)
  }

  /** Whether no other session has to take in the change at `seq` before it is answered. */
  isShown(seq: number): boolean {
    const { keeper, workspace } = this.#parts
    const inos = this.#changed.get(seq)
    if (!inos || workspace.isShared) return false
    return keeper.audience.hasSeen(seq, keeper.sharing.mayShow(this.session, inos))
  }

  /** Which directories the change at `seq` concerned. Undefined where that is not known any more. */
  changedAt(seq: number): readonly Ino[] | undefined {
    return this.#changed.get(seq)
  }

  /** As the head is now: where that has changed in its turn in the log, it has another turn. */
  #concerned(ops: readonly Op[]): Promise<readonly Ino[]> {
    const { workspace, branch } = this.#parts
    return workspace.read(branch, (view) => concernedBy(view, ops))
  }

  #requireGiven(ops: readonly Op[], given: Given | undefined): RequireGiven | undefined {
    if (!given) return undefined
    const { keeper, workspace } = this.#parts
    const { sharing } = keeper
    return async (view) => {
      await workspace.stores.nodes.read(() => given.require(view, ops))
      sharing.noteMade(this.session, ops)
    }
  }

  /** A token's session learns nothing of directories that the token does not show. */
  async #visible(inos: readonly Ino[]): Promise<readonly Ino[]> {
    return this.#parts.scope ? this.#present(inos) : inos
  }

  /** Without numbers that no directory has: what a session looked into, or claimed, is remembered. */
  async #present(inos: readonly Ino[]): Promise<readonly Ino[]> {
    const { scope, workspace, branch } = this.#parts
    return workspace.read(branch, (view) => {
      const seen = scope ? scope.see(view) : view
      return inos.filter((ino) => seen.inode(ino)?.kind === 'directory')
    })
  }
}

/** A session that gives no directories back has none to ask for. */
export async function answerSharer(
  sharer: Sharer | undefined,
  question: Question,
): Promise<Uint8Array> {
  if (sharer) return sharer.answer(question)
  throw new CairnError('read_only', {
    what: `${question.type}`,
    reason: 'this session gives no directories back',
  })
}
