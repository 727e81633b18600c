import type { Ino } from '@cairn/protocol'
import { isGuess } from '../image/count-bytes.ts'
import type { Image } from '../image/image.ts'
import type { LogPosition } from '../image/log-position.ts'
import { ImageMiss } from '../image/miss.ts'
import { settledSoon } from '../kernel/caches.ts'
import { decodeInodeAnswer } from '../session/answers.ts'

export interface BlockCountsParts {
  readonly image: Image
  readonly ask: (question: { readonly type: 'inode'; readonly ino: Ino }) => Promise<Uint8Array>
  readonly position: Pick<LogPosition, 'seq' | 'whenReached'>
  /** Whether the image may have more of a directory than the log. */
  readonly isPending: (directory: Ino) => boolean
  readonly isConnected: () => boolean
  readonly nowMs: () => number
}

/** A program that writes a sparse file and asks for its size each time must not wait for the server each time. */
const quietMs = 1000
/** A slow server keeps no `stat` waiting for longer. */
const patienceMs = 1000

/** Asks the server for the number of bytes of a file where this mount can only guess it. */
export class BlockCounts {
  readonly #parts: BlockCountsParts
  readonly #asking = new Set<Ino>()

  constructor(parts: BlockCountsParts) {
    this.#parts = parts
  }

  /** Throws ImageMiss where the number is a guess and the server can say better by now. Gives `ino`. */
  counted(ino: Ino): Ino {
    const { image, isConnected, isPending, nowMs } = this.#parts
    const inode = image.inode(ino)!
    if (!isGuess(inode) || this.#asking.has(ino) || !isConnected()) return ino
    const changedMs = inode.ctime.sec * 1000 + inode.ctime.nsec / 1e6
    if (Math.abs(nowMs() - changedMs) < quietMs) return ino
    const homes = inode.home ? [inode.home] : image.links(ino)
    if (homes.length === 0 || homes.some(({ parent }) => isPending(parent))) return ino
    throw new ImageMiss('blocks', ino)
  }

  load(ino: Ino): Promise<void> {
    return settledSoon(this.#load(ino), patienceMs)
  }

  /** Where the answer is of another content than the image has now, the number stays a guess. */
  async #load(ino: Ino): Promise<void> {
    const { image, ask, position } = this.#parts
    const { content } = image.inode(ino)!
    const from = position.seq
    this.#asking.add(ino)
    try {
      const { seq, inode } = decodeInodeAnswer(await ask({ type: 'inode', ino }))
      await position.whenReached(seq)
      if (seq >= from) image.count(ino, content, inode.content?.allocated)
    } catch {
      // It is gone, or the session is over. Another question would be answered in the same way.
      image.count(ino, content, undefined)
    }
    // Callers that waited are answered first, whatever came: a file that is written all the time is a guess all the time.
    setImmediate(() => this.#asking.delete(ino))
  }
}
