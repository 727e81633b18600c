import { homesOf, type Op, type Receipt, type View } from '@cairn/core'
import {
  CairnError,
  type Ino,
  type SessionId,
  type SessionReply,
  type SessionRequest,
  Writer,
} from '@cairn/protocol'
import type { SessionParts } from './session.ts'

/** Throws MoreDirectories where a batch, at its place in the log, concerns directories that the holder has. */
export type RequireGiven = (view: View) => Promise<void>

type Question = Extract<SessionRequest, { type: 'look' | 'claim' }>

const directoriesAtOnce = 1000

/** The part of a session that gives single directories back, and asks for those of others. */
export class Sharer {
  readonly session: SessionId
  readonly #parts: SessionParts
  readonly #send: (reply: SessionReply) => void
  readonly #told = Promise.withResolvers<void>()
  readonly #asked = new Map<number, (isDone: boolean) => void>()
  #lastId = 0
  #hasLeft = false
  /** What the other end cached before this connection counts no more, and it has not heard of that yet. */
  isBeside = false
  /** In order, where each may wait for the holder. */
  #writing: Promise<unknown> = Promise.resolve()

  /** `send` sends behind what was to be sent before. */
  constructor(session: SessionId, parts: SessionParts, send: (reply: SessionReply) => void) {
    this.session = session
    this.#parts = parts
    this.#send = send
  }

  join(): void {
    this.isBeside = this.#parts.keeper.sharing.join(this)
  }

  /** The other end has heard how it stands. */
  noteTold(): void {
    this.isBeside = false
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
    if (visible.length === 0) return true
    // It is about what the other end got with its standing.
    await this.#told.promise
    if (this.#hasLeft) return false
    const id = ++this.#lastId
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#asked.set(id, resolve)
    this.#send({ type, id, inos: visible })
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
    else if ((await this.#visible(inos)).length < inos.length) writer.u8(0)
    else writer.u8((await sharing.claim(this.session, inos)) ? 1 : 0)
    return writer.varint(branch.head.position.seq).finish()
  }

  /** The server has all that was acknowledged about the file when this resolves. */
  async lookAt(ino: Ino): Promise<void> {
    const { keeper, workspace, branch } = this.#parts
    const inos = await workspace.read(branch, (view) => homesOf(view, ino))
    await keeper.sharing.look(this.session, inos)
  }

  /** The holder's batches concern what is its own. Those of others wait until the holder has given that back. */
  write(ops: readonly Op[], write: (given?: RequireGiven) => Promise<Receipt>): Promise<Receipt> {
    const { keeper, workspace } = this.#parts
    const { sharing } = keeper
    if (keeper.record.holder === this.session) {
      sharing.noteHolder()
      return write()
    }
    const written = this.#writing.then(() =>
      sharing.change(this.session, (given) =>
        write(given && ((view) => workspace.stores.nodes.read(() => given.require(view, ops)))),
      ),
    )
    this.#writing = written.then(
      () => sharing.noteWriter(this.session),
      () => undefined,
    )
    return written
  }

  /** A token's session learns nothing of directories that the token does not show. */
  async #visible(inos: readonly Ino[]): Promise<readonly Ino[]> {
    return this.#parts.scope ? this.#present(inos) : inos
  }

  /** Without numbers that nothing has: what a session looked into is remembered. */
  async #present(inos: readonly Ino[]): Promise<readonly Ino[]> {
    const { scope, workspace, branch } = this.#parts
    return workspace.read(branch, (view) => {
      const seen = scope ? scope.see(view) : view
      return inos.filter((ino) => seen.inode(ino) !== undefined)
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
