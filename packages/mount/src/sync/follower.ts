import {
  decodeSentBatch,
  type Inode,
  type Link,
  type Op,
  type SentBatch,
  sessionIds,
} from '@cairn/core'
import { isFsError, type Ino, type Name } from '@cairn/protocol'
import { applyForeign, applyOwn } from '../data/apply.ts'
import type { Contents } from '../data/contents.ts'
import type { SegmentPlace } from '../data/segments.ts'
import type { KernelNodes } from '../kernel/nodes.ts'
import { lastByteOf } from '../kernel/growth.ts'
import type { Image } from '../image/image.ts'
import type { Loader } from '../image/loader.ts'
import type { LogPosition } from '../image/log-position.ts'
import { ImageMiss } from '../image/miss.ts'
import type { ChangesAnswer } from '../session/answers.ts'
import { isRescueLayer } from '../session/rescue.ts'
import { type Caches, longPatienceMs, settledSoon } from '../kernel/caches.ts'
import { type StaleCaches, touchedBy } from '../kernel/touched.ts'

export interface FollowerParts {
  readonly image: Image
  readonly contents: Contents
  readonly loader: Loader
  readonly position: LogPosition
  readonly caches: Caches
  /** Whether a batch of this session was acknowledged when it was made: the image has it already. */
  readonly isAcknowledged: (number: number) => boolean
  /** What a change of the whole tree changed. */
  readonly changesAt: (seq: number) => Promise<ChangesAnswer>
  /** Keeps bytes on the disk; undefined when there is no room. */
  readonly keep: (bytes: Uint8Array) => SegmentPlace | undefined
  /** Everything up to `seq` has been taken in, the kernel's caches included. */
  readonly seen: (seq: number) => void
  readonly onBatch?: (batch: SentBatch) => void
  /** Another session made that directory. */
  readonly onMade: (directory: Ino) => void
  /** Everything that was heard of has been taken in. */
  readonly onCurrent: () => void
  /** Forgets all that is known, here and in the kernel. */
  readonly reset: () => void
  readonly nodes: Pick<KernelNodes, 'isKnown' | 'isNew' | 'isFile' | 'replace' | 'replaceAll'>
  /**
   * A client removed a name from an inode that is not known here; the kernel may know it from a
   * process before.
   */
  readonly doubt: () => void
}

type Event =
  | { readonly type: 'own'; readonly number: number; readonly seq: number }
  | { readonly type: 'batch'; readonly batch: SentBatch }

interface KnownFile {
  readonly ino: Ino
  readonly names: readonly Link[]
}

interface Shared {
  readonly ops: readonly Op[]
  readonly applied: () => void
}

/**
 * Takes in the branch's log, batch after batch: the image, the bytes and the kernel's caches follow it. Own batches
 * that were acknowledged are in the image already; own ones that the server had to decide about are taken in at their
 * place in the log.
 */
export class Follower {
  readonly #parts: FollowerParts
  readonly #events: Event[] = []
  readonly #shared = new Map<number, Shared>()
  #isBusy = false

  constructor(parts: FollowerParts) {
    this.#parts = parts
  }

  /** What is known here and in the kernel is no older than this. */
  begin(seq: number): void {
    this.#parts.loader.advance(seq, [])
    this.#parts.position.settle(seq)
  }

  onOwn(number: number, seq: number): void {
    this.#events.push({ type: 'own', number, seq })
    this.#work()
  }

  onBatch(bytes: Uint8Array): void {
    this.#events.push({ type: 'batch', batch: decodeSentBatch(bytes) })
    this.#work()
  }

  /** The server took these in at `seq`. Resolves when the image has them. */
  whenApplied(seq: number, ops: readonly Op[]): Promise<void> {
    return new Promise((applied) => {
      this.#shared.set(seq, { ops, applied })
      this.#work()
    })
  }

  /**
   * Runs `wait`, which ends when the other mounts have seen our own change at `own`. It may keep the kernel from
   * forgetting what others changed in the same directory before it: the kernel holds a lock until the change is
   * answered. If those others wait for us, too, all of them would wait for ever, so this mount gives way and says that
   * it has seen their changes. The one whose change is earlier does not. A kernel that is merely slow is waited for, and so
   * is what it is to forget of files: only a write locks pages.
   */
  async whileShown(own: number, op: Op, wait: () => Promise<void>): Promise<void> {
    const { caches, position, seen } = this.#parts
    let isOver = false
    const giveWay = async (): Promise<void> => {
      await caches.telling()
      const locksPages = op.type === 'write' || op.type === 'append'
      if (!locksPages) await settledSoon(caches.filesSettled(), longPatienceMs)
      await settledSoon(caches.settled())
      if (!isOver && position.settledSeq < own - 1) seen(own - 1)
    }
    void giveWay()
    try {
      await wait()
    } finally {
      isOver = true
    }
  }

  /** Everything that was heard of has been taken in. */
  get isCurrent(): boolean {
    return this.#events.length === 0
  }

  /** In order, and at once where nothing has to be asked for. */
  #work(): void {
    if (this.#isBusy) return
    while (this.#events.length > 0) {
      const event = this.#events[0]!
      if (event.type === 'batch' && mustBeAsked(event.batch)) {
        this.#isBusy = true
        void this.#takeUnknown(event.batch)
        return
      }
      const isTaken =
        event.type === 'own' ? this.#takeOwn(event.number, event.seq) : this.#takeBatch(event.batch)
      // Its receipt is on its way.
      if (!isTaken) return
      this.#events.shift()
    }
    this.#parts.onCurrent()
  }

  #takeBatch(batch: SentBatch): true {
    const changed = new Set<Ino>()
    if (batch.body.type === 'ops') for (const op of batch.body.ops) this.#applyForeign(op, changed)
    for (const ino of madeBySession(batch)) this.#parts.onMade(ino)
    this.#advance(batch.seq, changed)
    this.#parts.onBatch?.(batch)
    return true
  }

  /** Asks the server what changed. */
  async #takeUnknown(batch: SentBatch): Promise<void> {
    const isSameFiles = keepsFiles(batch)
    let changed: Set<Ino> | 'everything' = new Set<Ino>()
    try {
      const changes = await this.#parts.changesAt(batch.seq)
      this.#forgetChanges(changes, changed, isSameFiles ? [] : this.#findFiles(changes))
    } catch {
      // Too many to list, or no server to ask: everything is loaded again.
      if (!isSameFiles) this.#parts.nodes.replaceAll()
      this.#parts.reset()
      changed = 'everything'
    }
    this.#isBusy = false
    this.#advance(batch.seq, changed)
    this.#parts.onBatch?.(batch)
    this.#events.shift()
    this.#work()
  }

  #takeOwn(number: number, seq: number): boolean {
    const changed = new Set<Ino>()
    if (!this.#parts.isAcknowledged(number)) {
      const shared = this.#shared.get(seq)
      if (!shared) return false
      this.#shared.delete(seq)
      for (const op of shared.ops) this.#applyShared(op, changed)
      shared.applied()
    }
    this.#advance(seq, changed)
    return true
  }

  #advance(seq: number, changed: ReadonlySet<Ino> | 'everything'): void {
    const { loader, caches, position, seen } = this.#parts
    loader.advance(seq, changed)
    if (this.#events.length > 1) return
    void caches.settled().then(() => {
      position.settle(seq)
      seen(seq)
    })
  }

  #applyForeign(op: Op, changed: Set<Ino>): void {
    const touched = touchedBy(op, (parent, name) => this.#find(parent, name))
    const sizeBefore = this.#sizeOf(op)
    this.#applyToImage(op, touched, changed)
    applyForeign(this.#parts.contents, op)
    this.#invalidate(touched)
    for (const { parent, name } of touched.names) this.#parts.image.leaveName(parent, name)
    this.#tellGrowth(op, sizeBefore)
  }

  #sizeOf(op: Op): number {
    return 'ino' in op ? (inodeOf(this.#parts.image, op.ino)?.size ?? 0) : 0
  }

  #tellGrowth(op: Op, sizeBefore: number): void {
    const { caches, nodes } = this.#parts
    const size = this.#sizeOf(op)
    const lastByte = lastByteOf(op)
    if (size <= sizeBefore || lastByte === undefined || !('ino' in op)) return
    if (nodes.isKnown(op.ino)) caches.grown(op.ino, size, lastByte)
  }

  #applyShared(op: Op, changed: Set<Ino>): void {
    const { image, contents, keep } = this.#parts
    const before = 'ino' in op && image.knows(op.ino) ? image.inode(op.ino) : undefined
    const from = op.type === 'copy' ? inodeOf(image, op.from) : undefined
    if (before && (op.type !== 'copy' || from)) {
      const bytes = 'data' in op && op.data.type === 'bytes' ? op.data.bytes : undefined
      applyOwn(contents, op, { before, from, place: bytes && keep(bytes), number: 0 })
    } else applyForeign(contents, op)
    this.#applyToImage(
      op,
      touchedBy(op, (parent, name) => this.#find(parent, name)),
      changed,
    )
  }

  /** Where too little is known to follow, what was touched is forgotten: nothing here is waiting to be sent. */
  #applyToImage(op: Op, touched: StaleCaches, changed: Set<Ino>): void {
    const { image } = this.#parts
    for (const ino of touched.inodes) changed.add(ino)
    try {
      image.absorb(image.plan([op]))
    } catch (error) {
      if (!(error instanceof ImageMiss) && !isFsError(error)) throw error
      if (this.#mayTakeLastName(op)) this.#parts.doubt()
      for (const ino of touched.inodes) image.drop(ino)
    }
  }

  #mayTakeLastName(op: Op): boolean {
    if (op.type !== 'unlink' && op.type !== 'rename') return false
    const isUnlink = op.type === 'unlink'
    const ino = isUnlink ? this.#find(op.parent, op.name) : this.#find(op.newParent, op.newName)
    return ino === undefined || this.#parts.image.links(ino).length < 2
  }

  /** With their names, so that the kernel is told to look them up anew. It does so anyway where an inode was dropped here. */
  #findFiles({ inodes }: ChangesAnswer): readonly KnownFile[] {
    const { image, nodes } = this.#parts
    return inodes
      .filter((ino) => nodes.isFile(ino))
      .map((ino) => {
        const home = inodeOf(image, ino)?.home
        return { ino, names: home ? [home] : image.links(ino) }
      })
  }

  /** What became of `files` is another file with the same number; the rest is the same, with other bytes. */
  #forgetChanges(
    { inodes, names }: ChangesAnswer,
    changed: Set<Ino>,
    files: readonly KnownFile[],
  ): void {
    const { image, contents, caches, nodes } = this.#parts
    const replaced = new Set<Ino>()
    for (const file of files) {
      if (!nodes.replace(file.ino)) continue
      replaced.add(file.ino)
      for (const { parent, name } of file.names) caches.entry(parent, name)
    }
    // To a token that does not see everything, the server cannot say what a name led to that is gone.
    for (const ino of names.map(({ parent, name }) => this.#findOrDoubt(parent, name))) {
      if (ino === undefined) continue
      image.drop(ino)
      caches.attributes(ino)
      changed.add(ino)
    }
    for (const { parent, name } of names) {
      caches.entry(parent, name)
      image.drop(parent)
      changed.add(parent)
    }
    for (const ino of inodes) {
      image.drop(ino)
      contents.find(ino)?.forget(0, Number.MAX_SAFE_INTEGER)
      contents.drop(ino)
      if (!replaced.has(ino)) caches.bytes(ino, 0, 0)
      changed.add(ino)
    }
    for (const { parent } of names) caches.bytes(parent, 0, 0)
  }

  /**
   * Only what the kernel may remember. It holds a lock on a directory while it looks up a name there, and forgets no other
   * name of it meanwhile: the answer must not wait until a file is forgotten that the kernel does not know yet.
   */
  #invalidate({ inodes, names, bytes }: StaleCaches): void {
    const { caches, image, nodes } = this.#parts
    for (const { parent, name } of names) if (nodes.isKnown(parent)) caches.entry(parent, name)
    for (const ino of inodes) this.#tellWhenLookedUp(ino)
    for (const { ino, offset, length } of bytes)
      if (nodes.isKnown(ino)) caches.bytes(ino, offset, length)
    const parents = new Set(names.map(({ parent }) => parent))
    for (const ino of inodes.filter((known) => nodes.isKnown(known)))
      if (parents.has(ino) || isDirectory(image, ino)) caches.bytes(ino, 0, 0)
      else caches.attributes(ino)
  }

  /** A program may have the answer to a lookup of it, from before the change, and the kernel may not have the inode yet. */
  #tellWhenLookedUp(ino: Ino): void {
    const { caches, image, nodes } = this.#parts
    if (!nodes.isNew(ino)) return
    const home = inodeOf(image, ino)?.home
    for (const { parent } of home ? [home] : image.links(ino))
      if (nodes.isKnown(parent)) caches.lookedUp(parent, ino)
  }

  #findOrDoubt(parent: Ino, name: Name): Ino | undefined {
    const ino = this.#find(parent, name)
    if (!this.#parts.image.knowsDirectory(parent)) this.#parts.doubt()
    return ino
  }

  /** A file with several names may be known by another one. */
  #find(parent: Ino, name: Name): Ino | undefined {
    return this.#parts.image.find(parent, name)
  }
}

/** Whether the batch itself does not say what it changed. */
function mustBeAsked({ body }: SentBatch): boolean {
  return body.type === 'root' || (body.type === 'masked' && body.change !== 'nothing')
}

/**
 * Whether its files are the same ones, written to, so that open descriptors go on. Late writes that are committed from a
 * rescue layer are the writes of some mount, whose programs have the files open.
 */
function keepsFiles({ body }: SentBatch): boolean {
  if (body.type === 'masked') return body.change === 'writes'
  return (
    body.type === 'root' && body.change.cause === 'commit' && isRescueLayer(body.change.subject)
  )
}

/** Directories that a session made, and may hold. What requests make, no session holds yet. */
function madeBySession({ session, body }: SentBatch): readonly Ino[] {
  if (body.type !== 'ops' || !sessionIds.isConnected(session)) return []
  return body.ops.flatMap((op) => (op.type === 'create' && op.kind === 'directory' ? [op.ino] : []))
}

function inodeOf(image: Image, ino: Ino): Inode | undefined {
  return image.knows(ino) ? image.inode(ino) : undefined
}

function isDirectory(image: Image, ino: Ino): boolean {
  return inodeOf(image, ino)?.kind === 'directory'
}
