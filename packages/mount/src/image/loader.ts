import type { Ino, Name } from '@cairn/protocol'
import {
  type DirectoryAnswer,
  decodeAheadAnswer,
  decodeDirectoryAnswer,
  decodeInodeAnswer,
  decodeSubtreeAnswer,
  type SubtreeAnswer,
} from '../session/answers.ts'
import type { Image, LoadedEntry } from './image.ts'
import type { LogPosition } from './log-position.ts'
import type { ImageMiss } from './miss.ts'
import { WalkAhead } from './walk-ahead.ts'

type Question =
  | { readonly type: 'inode'; readonly ino: Ino }
  | { readonly type: 'subtree'; readonly ino: Ino; readonly limit: number }
  | { readonly type: 'ahead'; readonly ino: Ino; readonly from: number; readonly bytes: number }
  | { readonly type: 'directory'; readonly ino: Ino; readonly after: Name; readonly limit: number }

export interface LoaderParts {
  readonly image: Image
  readonly position: LogPosition
  readonly ask: (question: Question) => Promise<Uint8Array>
  /** Once the image has all that was acknowledged in the directory. */
  readonly look: (ino: Ino) => Promise<void>
  /** Once the kernel has dropped what it has of the file. */
  readonly forgotten: (ino: Ino) => Promise<void>
  /** How many blocks the file takes. */
  readonly count: (ino: Ino) => Promise<void>
  /** Asked before a question: gives what takes in the bytes of its answer. */
  readonly beginSupply?: () => (ino: Ino, offset: number, bytes: Uint8Array) => void
  readonly nowMs: () => number
  /** How many entries to load at most that nothing has asked for. */
  readonly guessedEntries?: number
}

const entriesAtOnce = 1000
/** Above this, all answers that are on their way are asked for again. */
const changedMax = 100_000

/**
 * Brings what the image misses. An answer is of one moment in the branch's log, and the image is at another: an answer
 * from later waits until the image is there, and one from earlier is not believed about what has changed since.
 */
export class Loader {
  readonly #parts: LoaderParts
  readonly #loading = new Map<string, Promise<void>>()
  /** When others last changed an inode, for as long as something is on its way. */
  readonly #changedAt = new Map<Ino, number>()
  #everythingChangedAt = 0
  readonly #ahead = new WalkAhead()

  constructor(parts: LoaderParts) {
    this.#parts = parts
  }

  /** No request waits for anything. */
  get isAtRest(): boolean {
    return this.#loading.size === 0
  }

  async whenAtRest(): Promise<void> {
    while (this.#loading.size > 0) await Promise.allSettled(this.#loading.values())
  }

  load({ what, ino }: Pick<ImageMiss, 'what' | 'ino'>): Promise<void> {
    if (what === 'look') return this.#parts.look(ino)
    if (what === 'pages') return this.#parts.forgotten(ino)
    if (what === 'blocks') return this.#once(`blocks ${ino}`, () => this.#parts.count(ino))
    return this.#once(`${what} ${ino}`, () =>
      what === 'inode' ? this.#loadInode(ino) : this.#loadMissed(ino),
    )
  }

  /**
   * Prefetches the directories near the top: a walk through a new mount finds them here. It loads
   * them in pieces, and only while no request waits: all at once, they kept the first file of a
   * large workspace waiting for 200 ms.
   */
  async loadNear(top: Ino): Promise<void> {
    const { image } = this.#parts
    const next = [top]
    for (let left = this.#guessedEntries; left > 0;) {
      if (!this.isAtRest) await this.whenAtRest()
      const ino = next.shift()
      if (ino === undefined) return
      const entries: LoadedEntry[] = []
      await this.#once(`subtree ${ino}`, () => this.#loadSubtree(ino, entriesAtOnce, entries))
      left -= Math.max(1, entries.length)
      for (const { ino: child, inode } of entries)
        if (inode.kind === 'directory' && !image.knowsDirectory(child)) next.push(child)
    }
  }

  /** Takes in what earlier mounts of `root` read first, from that item of their trace on. */
  async loadAhead(
    root: Ino,
    from: number,
    bytes: number,
  ): Promise<{ readonly next: number; readonly size: number }> {
    let loaded = { next: 0, size: 0 }
    await this.#once(`ahead ${from}`, async () => {
      const supply = this.#parts.beginSupply?.()
      const answer = await this.#parts.ask({ type: 'ahead', ino: root, from, bytes })
      const { since, seq, next, directories, pieces } = decodeAheadAnswer(answer)
      loaded = { next, size: answer.length }
      await this.#parts.position.whenReached(seq)
      this.#install(directories, since)
      for (const { ino, offset, bytes: read } of pieces)
        if (!this.#isOutdated(ino, since)) supply?.(ino, offset, read)
    })
    return loaded
  }

  get #guessedEntries(): number {
    return this.#parts.guessedEntries ?? 20_000
  }

  /** Concurrent misses of the same thing are one. */
  #once(key: string, load: () => Promise<void>): Promise<void> {
    let loading = this.#loading.get(key)
    if (!loading) {
      loading = load().finally(() => {
        this.#loading.delete(key)
        if (this.#loading.size === 0) this.#changedAt.clear()
      })
      this.#loading.set(key, loading)
    }
    return loading
  }

  /** The image is now at `seq`; these were changed on the way there. */
  advance(seq: number, changed: Iterable<Ino> | 'everything'): void {
    if (changed === 'everything') this.#everythingChangedAt = seq
    else if (this.#loading.size > 0) for (const ino of changed) this.#changedAt.set(ino, seq)
    this.#parts.position.advance(seq)
  }

  /**
   * These were dropped from the image. An answer that is on its way may be older than what the image had of them, which
   * has own changes as well.
   */
  noteDropped(inos: Iterable<Ino>): void {
    if (this.#loading.size === 0) return
    const { seq } = this.#parts.position
    for (const ino of inos) this.#changedAt.set(ino, seq)
    if (this.#changedAt.size <= changedMax) return
    this.#everythingChangedAt = seq
    this.#changedAt.clear()
  }

  async #loadInode(ino: Ino): Promise<void> {
    const { image, ask } = this.#parts
    for (;;) {
      const { seq, inode, links } = decodeInodeAnswer(await ask({ type: 'inode', ino }))
      await this.#parts.position.whenReached(seq)
      if (this.#isOutdated(ino, seq)) continue
      image.install({ ino, inode, links })
      return
    }
  }

  /** For a program that walks, with what is below it. */
  async #loadMissed(ino: Ino): Promise<void> {
    const { image, nowMs } = this.#parts
    const entries = Math.min(this.#ahead.next(nowMs()), this.#guessedEntries)
    try {
      if (entries > 0) await this.#loadSubtree(ino, entries)
      // It has too many names, or it changed meanwhile.
      if (entries === 0 || !image.knowsDirectory(ino)) await this.#loadDirectory(ino)
    } finally {
      this.#ahead.end(nowMs())
    }
  }

  async #loadDirectory(ino: Ino): Promise<void> {
    const { image } = this.#parts
    for (;;) {
      const pages = await this.#pages(ino)
      await this.#parts.position.whenReached(pages.at(-1)!.seq)
      const first = pages[0]!.seq
      if (this.#isOutdated(ino, first)) continue
      image.installDirectory(ino, this.#current(pages))
      return
    }
  }

  /** Those of its directories that are small. Adds to `found` what is in them. */
  async #loadSubtree(ino: Ino, limit: number, found: LoadedEntry[] = []): Promise<void> {
    const answer = await this.#parts.ask({ type: 'subtree', ino, limit })
    const { seq, directories } = decodeSubtreeAnswer(answer)
    await this.#parts.position.whenReached(seq)
    found.push(...this.#install(directories, seq))
  }

  /** As they were at `seq`. Gives what is in them. */
  #install(directories: SubtreeAnswer['directories'], seq: number): readonly LoadedEntry[] {
    const found: LoadedEntry[] = []
    for (const { ino, entries } of directories) {
      if (this.#isOutdated(ino, seq)) continue
      const current = this.#current([{ seq, entries }])
      this.#parts.image.installDirectory(ino, current)
      found.push(...current)
    }
    return found
  }

  async #pages(ino: Ino): Promise<DirectoryAnswer[]> {
    const pages: DirectoryAnswer[] = []
    for (let after = '' as Name; ;) {
      const answer = await this.#parts.ask({ type: 'directory', ino, after, limit: entriesAtOnce })
      const page = decodeDirectoryAnswer(answer)
      pages.push(page)
      if (page.done) return pages
      after = page.entries.at(-1)!.name
    }
  }

  /** The names stand; of inodes that were changed since, only that. They are loaded when they are asked for. */
  #current(pages: readonly Pick<DirectoryAnswer, 'seq' | 'entries'>[]): LoadedEntry[] {
    return pages.flatMap(({ seq, entries }) =>
      entries.map((entry) => ({ ...entry, outdated: this.#isOutdated(entry.ino, seq) })),
    )
  }

  #isOutdated(ino: Ino, seq: number): boolean {
    return Math.max(this.#everythingChangedAt, this.#changedAt.get(ino) ?? 0) > seq
  }
}
