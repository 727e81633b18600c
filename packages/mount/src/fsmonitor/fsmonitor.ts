import { randomBytes } from 'node:crypto'
import { type ByteString, fromByteString, type Ino } from '@cairn/protocol'
import type { Answer } from '../fuse/file-system.ts'
import type { Image } from '../image/image.ts'
import type { ImageMiss } from '../image/miss.ts'
import { type Caches, settledSoon } from '../kernel/caches.ts'
import { changedPaths } from './changed-paths.ts'

/**
 * The program that made a change goes on in the kernel after the change was answered. Until then a look at the file shows
 * the old one. So a change counts as new for this long: it is told once more.
 */
const marginMs = 2000
/** A git that waits longer than this is told to look at everything. */
const patienceMs = 2000

export interface FsmonitorParts {
  readonly image: Image
  readonly load: (miss: ImageMiss) => Promise<void>
  readonly caches: Caches
  /** The directory that is mounted. */
  readonly root: () => Ino
  /** Whether the log has all that other mounts acknowledged, or will have it before it is shown. */
  readonly isFresh: () => boolean
  readonly nowMs: () => number
}

/**
 * Answers git's fsmonitor hook (version 2): what changed since a token. The token names this process and a time, so any
 * other process answers that everything may have changed, and so does this one where it does not know.
 *
 * INVARIANT: a change that is not told for a token was visible to all programs before the token was given.
 */
export class Fsmonitor {
  readonly #parts: FsmonitorParts
  readonly #process = randomBytes(8).toString('hex')
  /** Since when changes are under way whose programs still wait. */
  readonly #waiting = new Map<symbol, { readonly beganMs: number; readonly untilMs: number }>()
  /** What changed before this is what the kernel shows. */
  #toldMs = 0

  constructor(parts: FsmonitorParts) {
    this.#parts = parts
  }

  /** A program waits for the answer to its change, and its kernel shows the old state meanwhile. */
  hold<T>(answer: Answer<T>): Answer<T> {
    if (!(answer instanceof Promise)) return answer
    const key = Symbol('change')
    const beganMs = this.#parts.nowMs()
    this.#waiting.set(key, { beganMs, untilMs: Number.POSITIVE_INFINITY })
    const end = (): void =>
      void this.#waiting.set(key, { beganMs, untilMs: this.#parts.nowMs() + marginMs })
    return answer.finally(end)
  }

  /** The bytes that the hook prints. */
  async answer(token: string, top: Ino): Promise<Uint8Array> {
    const sinceMs = this.#parse(token)
    const next = await this.#nextToken()
    const paths = sinceMs === undefined ? undefined : await this.#changedSince(sinceMs, top)
    const lines = [next, ...(paths ?? ['/'])]
    return fromByteString(lines.map((line) => `${line}\0`).join(''))
  }

  #parse(token: string): number | undefined {
    const match = /^cairn:([0-9a-f]+):(\d+)$/.exec(token)
    return match?.[1] === this.#process ? Number(match[2]) : undefined
  }

  async #nextToken(): Promise<string> {
    const { caches, nowMs } = this.#parts
    const askedMs = nowMs()
    void caches.settled().then(() => (this.#toldMs = Math.max(this.#toldMs, askedMs)))
    await settledSoon(caches.settled())
    let ms = Math.min(askedMs - marginMs, this.#toldMs)
    for (const [key, { beganMs, untilMs }] of this.#waiting)
      if (untilMs < askedMs) this.#waiting.delete(key)
      else ms = Math.min(ms, beganMs)
    return `cairn:${this.#process}:${Math.max(0, Math.floor(ms))}`
  }

  async #changedSince(ms: number, top: Ino): Promise<readonly ByteString[] | undefined> {
    const { image, load, root, isFresh } = this.#parts
    const changed = isFresh() ? image.lastChanges.since(ms) : undefined
    if (!changed) return undefined
    const impatience = new Promise<undefined>((resolve) =>
      setTimeout(() => resolve(undefined), patienceMs).unref(),
    )
    const found = changedPaths(image, load, { top, root: root() }, changed)
    return Promise.race([found.catch(() => undefined), impatience])
  }
}
