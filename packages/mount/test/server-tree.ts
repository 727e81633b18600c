import { encodeBatch, encodeInode, genesis, type Inode, type Op, type SentBatch } from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  type Ino,
  type Name,
  rootIno,
  type SessionId,
  Writer,
} from '@cairn/protocol'
import { Image } from '../src/image/image.ts'
import type { LoaderParts } from '../src/image/loader.ts'

type Question = Parameters<LoaderParts['ask']>[0]

export const time = { sec: 1, nsec: 0 }
/** Entries of a directory per page, so that a few names make several pages. */
const entriesPerPage = 2

export const emptyRoot: Inode = {
  kind: 'directory',
  mode: 0o755,
  uid: 0,
  gid: 0,
  size: 0,
  nlink: 2,
  rdev: 0,
  atime: time,
  mtime: time,
  ctime: time,
  home: undefined,
  target: undefined,
  xattrs: undefined,
  content: undefined,
}

export function create(name: string, ino: number, kind: 'file' | 'directory' = 'file'): Op {
  const place = { parent: rootIno, name: name as Name, ino: ino as Ino }
  const file = { kind, mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  return { type: 'create', time, ...place, ...file }
}

export function unlink(name: string, parent: Ino = rootIno): Op {
  return { type: 'unlink', time, parent, name: name as Name }
}

/** A branch as a server has it: takes in batches, and answers about the tree after the last of them. */
export class ServerTree {
  readonly #tree = new Image()
  #seq = 0

  constructor() {
    this.#tree.install({ ino: rootIno, inode: emptyRoot, links: [] })
    this.#tree.installDirectory(rootIno, [])
  }

  get seq(): number {
    return this.#seq
  }

  /** Gives the batch, as sessions hear of it. */
  write(...ops: Op[]): Uint8Array {
    for (const op of ops) this.#tree.absorb(this.#tree.plan([op]))
    return this.#append({ type: 'ops', ops })
  }

  /** One that does not say what it changed. */
  changeRoot(...ops: Op[]): Uint8Array {
    for (const op of ops) this.#tree.absorb(this.#tree.plan([op]))
    const none = { root: genesis, orphans: genesis }
    const change = {
      cause: 'rollback',
      before: none,
      after: none,
      subject: '',
      message: '',
    } as const
    return this.#append({ type: 'root', change })
  }

  /** As a session hears of them that may not see everything. */
  hide(...ops: Op[]): Uint8Array {
    for (const op of ops) this.#tree.absorb(this.#tree.plan([op]))
    return this.#append({ type: 'masked', change: 'writes' })
  }

  answer(question: Question): Uint8Array {
    const writer = new Writer().varint(this.#seq)
    if (question.type === 'inode') this.#writeInode(writer, question.ino)
    if (question.type === 'directory') this.#writePage(writer, question.ino, question.after)
    if (question.type === 'subtree') {
      writer.varint(question.ino)
      this.#writeEntries(writer, question.ino, '' as Name, Infinity)
    }
    return writer.finish()
  }

  #append(body: SentBatch['body']): Uint8Array {
    const who = { session: 'other' as SessionId, actor: 'a-user' as ActorId }
    const place = { branch: 'b' as BranchId, seq: ++this.#seq, epoch: 1, number: this.#seq }
    return encodeBatch({ ...place, ...who, time, body, previous: genesis } satisfies SentBatch)
  }

  #writePage(writer: Writer, ino: Ino, after: Name): void {
    const rest = this.#tree.entries(ino, after === '' ? undefined : after, Infinity)
    writer.u8(rest.length <= entriesPerPage ? 1 : 0)
    this.#writeEntries(writer, ino, after, entriesPerPage)
  }

  #writeEntries(writer: Writer, parent: Ino, after: Name, limit: number): void {
    const entries = this.#tree.entries(parent, after === '' ? undefined : after, limit)
    writer.varint(entries.length)
    for (const { name, ino } of entries) this.#writeInode(writer.byteString(name).varint(ino), ino)
  }

  #writeInode(writer: Writer, ino: Ino): void {
    writer.bytes(encodeInode(this.#tree.inode(ino)!)).varint(0)
    const links = this.#tree.links(ino)
    writer.varint(links.length)
    for (const { parent, name } of links) writer.varint(parent).byteString(name)
  }
}

/** Questions that were asked, each to be answered when the test says so. */
export class Questions {
  readonly #waiting: (() => void)[] = []
  readonly asked: Question[] = []
  readonly #server: ServerTree

  constructor(server: ServerTree) {
    this.#server = server
  }

  /** Answered with what the server has when it is asked, and not when the answer arrives. */
  readonly ask = (question: Question): Promise<Uint8Array> => {
    this.asked.push(question)
    const answer = this.#server.answer(question)
    return new Promise((resolve) => this.#waiting.push(() => resolve(answer)))
  }

  /** The oldest answer arrives, and what comes of it has come. */
  async deliver(): Promise<void> {
    this.#waiting.shift()!()
    await new Promise((resolve) => setImmediate(resolve))
  }
}
