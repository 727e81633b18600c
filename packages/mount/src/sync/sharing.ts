import { directoriesOf, DirectorySet, homesOf, type Op, type View } from '@cairn/core'
import { type Ino, Reader } from '@cairn/protocol'
import type { Image } from '../image/image.ts'
import { ImageMiss } from '../image/miss.ts'
import type { SessionEvents } from '../session/options.ts'
import type { Caches } from '../kernel/caches.ts'

type Question = { readonly type: 'look' | 'claim'; readonly inos: readonly Ino[] }

export interface SharingClientParts {
  readonly image: View & Pick<Image, 'knowsDirectory' | 'toldNames'>
  readonly caches: Caches
  /** Whether the kernel may remember something of it. */
  readonly isKnown: (ino: Ino) => boolean
  /** Whether it was told of it a moment ago. */
  readonly isNew: (ino: Ino) => boolean
  readonly ask: (question: Question) => Promise<Uint8Array>
  /** Once the image has the log up to there. */
  readonly whenReached: (seq: number) => Promise<void>
  /** Once what was acknowledged in these directories is at the server. */
  readonly whenSent: (inos: readonly Ino[]) => Promise<void>
  /** The kernel forgets everything. */
  readonly forgetInKernel: () => void
  /** The kernel forgets what it has of directories that are not known here any more. */
  readonly forgetDropped: () => void
  /** Whether the session gives single directories back. Others follow the log and no more. */
  readonly shares: boolean
}

const givenBackMax = 100

/** Directories of a claim that is for all of them. */
const everything: readonly Ino[] = []

/** A question under way. It counts for nothing if the server takes back meanwhile what it will answer. */
interface Pending {
  readonly type: Question['type']
  readonly inos: readonly Ino[]
  isVoid: boolean
}

/**
 * Which directories this mount may change on its own, and which it may show without asking.
 *
 * The image follows the log, but other mounts that hold the lease have acknowledged changes that are not in the log yet.
 * So a directory is shown after a look: its holder sends what it has, and this mount takes that in. Before a holder
 * changes the directory again, this mount is asked to forget it. A mount that holds the lease gives directories back in
 * the same way, and claims them before it changes them.
 *
 * INVARIANT: what is this mount's own is its own for the server, too, until this mount has said that it gave it back.
 */
export class SharingClient {
  readonly #parts: SharingClientParts
  /** With the lease: where changes are acknowledged. */
  readonly #mine = new DirectorySet(true)
  /** What is known of these is all there is. */
  readonly #fresh: DirectorySet
  readonly #looks = new Map<Ino, Promise<void>>()
  readonly #pending = new Set<Pending>()
  /** The last ones that this mount does not hold, and why: for the status, and for nothing else. */
  readonly #givenBack = new Map<Ino, 'asked' | 'contested'>()
  #isAlone = true
  /** Grows with each lease, and when everything here counts no more. */
  #turn = 0

  constructor(parts: SharingClientParts) {
    this.#parts = parts
    // It hears first whether another one holds the lease.
    this.#fresh = new DirectorySet(!parts.shares)
  }

  /** Where changes are acknowledged, with the lease. */
  get mine(): Pick<DirectorySet, 'hasRest' | 'listed'> {
    return this.#mine
  }

  get givenBack(): ReadonlyMap<Ino, 'asked' | 'contested'> {
    return this.#givenBack
  }

  /** Questions that are not answered. */
  get asking(): Iterable<Pick<Pending, 'type' | 'inos'>> {
    return this.#pending
  }

  /** No other mount has looked at anything here since this one got the lease. */
  get isUnshared(): boolean {
    return this.#isAlone && this.#mine.isFull
  }

  /**
   * This mount gets the lease, or hears of it again. What others may know must be claimed first; where others hold the
   * lease already, what they may have changed must be looked at, too.
   */
  onLease(isAlone: boolean, isNew: boolean | 'joined', seq: number): void {
    this.#isAlone = isAlone
    if (isNew === false) return
    // Beside a mount that gives no directories back there is no other holder.
    const hasJoined = isNew === 'joined' && this.#parts.shares
    this.#voidAll(this.#pending)
    this.#givenBack.clear()
    if (isAlone && !hasJoined) this.#mine.fill()
    else this.#mine.clear()
    if (!hasJoined) this.#refresh(seq)
  }

  /** Over a new connection. Beside a holder, this mount may have missed what it was to forget. */
  onShared(isBeside: boolean, seq: number): void {
    if (!isBeside) return this.#refresh(seq)
    this.#turn++
    this.#voidAll(this.#pending)
    this.#fresh.clear()
    this.#parts.forgetInKernel()
  }

  /** No other mount acknowledges anything now. What they did before is shown when it has been taken in. */
  #refresh(seq: number): void {
    const turn = ++this.#turn
    void this.#parts.whenReached(seq).then(() => {
      if (turn === this.#turn) this.#fresh.fill()
    })
  }

  /** Others want to see or change these. */
  async yield(inos: readonly Ino[]): Promise<void> {
    this.#isAlone = false
    this.#voidAll(this.#concerning(inos))
    for (const ino of inos) this.#giveBack(ino, 'asked')
    await this.#parts.whenSent(inos)
  }

  /** The holder is about to change these. */
  async forget(inos: readonly Ino[]): Promise<void> {
    const { caches } = this.#parts
    this.#turn++
    this.#voidAll(this.#concerning(inos))
    for (const ino of inos) {
      this.#fresh.delete(ino)
      this.#forgetInKernel(ino)
    }
    await caches.settled()
  }

  #giveBack(ino: Ino, why: 'asked' | 'contested'): void {
    this.#mine.delete(ino)
    this.#givenBack.delete(ino)
    this.#givenBack.set(ino, why)
    if (this.#givenBack.size > givenBackMax)
      this.#givenBack.delete(this.#givenBack.keys().next().value!)
  }

  /** Throws ImageMiss for a look. */
  requireFresh(ino: Ino): void {
    if (this.#fresh.isFull) return
    const homes = homesOf(this.#parts.image, ino)
    // A mount that changes a file claims all directories that have it.
    if (homes.length > 0 && !homes.some((home) => this.#fresh.has(home)))
      throw new ImageMiss('look', homes[0]!)
  }

  /** No other mount has acknowledged anything that the log lacks. */
  get isAllFresh(): boolean {
    return this.#fresh.isFull
  }

  isFresh(directory: Ino): boolean {
    return this.#fresh.has(directory)
  }

  /** Resolves when what is known of the directory is all there is. */
  look(ino: Ino): Promise<void> {
    const looking = this.#looks.get(ino)
    if (looking) return looking
    const look = this.#look(ino).finally(() => this.#looks.delete(ino))
    this.#looks.set(ino, look)
    return look
  }

  async #look(ino: Ino): Promise<void> {
    while (!this.#fresh.has(ino)) {
      const isAnswered = await this.#ask('look', [ino])
      if (isAnswered) this.#fresh.add(ino)
    }
  }

  /** Whether the directory, or all that have the file, may be changed here. */
  isMine(ino: Ino): boolean {
    if (this.#mine.isFull) return true
    const homes = homesOf(this.#parts.image, ino)
    return homes.length > 0 && homes.every((home) => this.#mine.has(home))
  }

  /** A file without a name is in no directory, so no holder can claim it: beside others the server decides. */
  isInNoDirectory(op: Op): boolean {
    return !this.#mine.isFull && directoriesOf(this.#parts.image, op).length === 0
  }

  /**
   * The directories that must be claimed before an operation is acknowledged: all that it concerns, or none. The kernel
   * may hold a lock on any of them until the operation is done. So of two claims with one in common only the first may go
   * on, or each could wait for the other's kernel to forget.
   */
  findUnclaimed(op: Op): readonly Ino[] {
    if (this.#mine.isFull) return []
    const inos = directoriesOf(this.#parts.image, op)
    return inos.every((ino) => this.#mine.has(ino)) ? [] : [...new Set(inos)]
  }

  /** No other client knows a directory that this mount made. */
  noteMade(ino: Ino): void {
    this.#mine.add(ino)
    this.#givenBack.delete(ino)
    this.#fresh.add(ino)
  }

  /** The log brings a directory that another session made: it may be that one's own. */
  noteMadeElsewhere(ino: Ino): void {
    if (!this.#parts.shares) return
    this.#mine.delete(ino)
    this.#fresh.delete(ino)
  }

  /** False where another client is at work: then the server decides. */
  async claim(inos: readonly Ino[]): Promise<boolean> {
    // The others have left: then all of it can be had at once.
    if (this.#isAlone && (await this.#ask('claim', everything))) {
      this.#mine.fill()
      this.#givenBack.clear()
      this.#fresh.fill()
      return true
    }
    const isMine = await this.#ask('claim', inos)
    // Where the server decides, nothing is acknowledged beside that until it is claimed again.
    for (const ino of inos)
      if (isMine) this.noteMade(ino)
      else this.#giveBack(ino, 'contested')
    return isMine
  }

  /** False when it was refused, or taken back before this mount was ready. */
  async #ask(type: Question['type'], inos: readonly Ino[]): Promise<boolean> {
    const { ask, whenReached } = this.#parts
    const pending = { type, inos, isVoid: false }
    this.#pending.add(pending)
    try {
      const reader = new Reader(await ask({ type, inos }), type)
      const isGiven = type === 'look' || reader.u8() === 1
      await whenReached(reader.varint())
      return isGiven && !pending.isVoid
    } finally {
      this.#pending.delete(pending)
    }
  }

  #concerning(inos: readonly Ino[]): readonly Pending[] {
    return [...this.#pending].filter(
      (pending) => pending.inos === everything || pending.inos.some((ino) => inos.includes(ino)),
    )
  }

  #voidAll(all: Iterable<Pending>): void {
    for (const pending of all) pending.isVoid = true
  }

  /**
   * Names are looked up again, also those that were not there; files are read again. A name that merely expires can last:
   * a program that was told of it before, and runs only after the kernel has heard this, sets the hour for which the
   * kernel remembers it. So it is dropped. A directory's name expires all the same, because programs may be in it.
   */
  #forgetInKernel(ino: Ino): void {
    const { caches, image, isKnown, isNew } = this.#parts
    const isTold = isKnown(ino)
    for (const { name, dentry } of image.toldNames(ino)) {
      if (dentry && !isKnown(dentry.ino)) continue
      if (isTold && dentry?.kind === 'directory') caches.expire(ino, name)
      else if (isTold) caches.entry(ino, name)
      if (isTold && dentry && isNew(dentry.ino)) caches.lookedUp(ino, dentry.ino)
      // Also where another mount moved the file to a directory that the kernel does not know.
      if (dentry && dentry.kind !== 'directory') caches.bytes(dentry.ino, 0, 0)
    }
    if (isTold) caches.bytes(ino, 0, 0)
    if (!image.knowsDirectory(ino)) this.#parts.forgetDropped()
  }
}

/** What a session tells its mount about directories. */
export function sharingHandlers(
  sharing: SharingClient,
  session: { readonly seq: number },
): Required<Pick<SessionEvents, 'onLease' | 'onShared' | 'onYield' | 'onForget'>> {
  return {
    onLease: (isAlone, isNew) => sharing.onLease(isAlone, isNew, session.seq),
    onShared: (isBeside) => sharing.onShared(isBeside, session.seq),
    onYield: (inos) => sharing.yield(inos),
    onForget: (inos) => sharing.forget(inos),
  }
}
