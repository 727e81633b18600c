import { totalmem } from 'node:os'

interface Slab {
  readonly buffer: SharedArrayBuffer
  readonly keys: string[]
  end: number
  usedMs: number
}

interface Kept {
  readonly slab: Slab
  readonly bytes: Uint8Array
}

interface TextStoreOptions {
  readonly bytesMax: number
  readonly nowMs?: () => number
}

const slabBytes = 8 << 20
/** So long are texts kept that no search asked for. */
const idleMs = 10 * 60_000
/** What was used within this time stays, and new texts find no room: a search of more than there is room for would push out all. */
const busyMs = 60_000
const newline = 0x0a

/**
 * Texts of files, in memory that threads share: a second search reads, decompresses and copies nothing. Texts that came one
 * after the other lie one behind the other, with a newline between them, so that a thread may search them as one.
 */
export class TextStore {
  readonly #slabsMax: number
  readonly #nowMs: () => number
  readonly #texts = new Map<string, Kept>()
  #slabs: Slab[] = []
  #timer: NodeJS.Timeout | undefined

  constructor({ bytesMax, nowMs = () => performance.now() }: TextStoreOptions) {
    this.#slabsMax = Math.floor(bytesMax / slabBytes)
    this.#nowMs = nowMs
  }

  get bytes(): number {
    return this.#slabs.length * slabBytes
  }

  find(key: string): Uint8Array | undefined {
    const kept = this.#texts.get(key)
    if (kept) kept.slab.usedMs = this.#nowMs()
    return kept?.bytes
  }

  /** Gives the bytes as they are kept, or, where there is no room, as they are. */
  add(key: string, bytes: Uint8Array): Uint8Array {
    const known = this.find(key)
    if (known) return known
    const slab = this.#slabFor(bytes.length + 1)
    if (!slab) return bytes
    const kept = new Uint8Array(slab.buffer, slab.end, bytes.length)
    kept.set(bytes)
    slab.end += bytes.length
    new Uint8Array(slab.buffer)[slab.end++] = newline
    slab.usedMs = this.#nowMs()
    slab.keys.push(key)
    this.#texts.set(key, { slab, bytes: kept })
    return kept
  }

  /** Drops what was not used for long. */
  tidy(): void {
    const usedSince = this.#nowMs() - idleMs
    for (const slab of this.#slabs) if (slab.usedMs < usedSince) this.#drop(slab)
    if (this.#slabs.length > 0) return
    clearInterval(this.#timer)
    this.#timer = undefined
  }

  #slabFor(length: number): Slab | undefined {
    const last = this.#slabs.at(-1)
    if (last && last.end + length <= slabBytes) return last
    if (length > slabBytes) return undefined
    if (this.#slabs.length >= this.#slabsMax) {
      const oldest = this.#slabs.toSorted((a, b) => a.usedMs - b.usedMs)[0]
      if (!oldest || oldest.usedMs > this.#nowMs() - busyMs) return undefined
      this.#drop(oldest)
    }
    const buffer = new SharedArrayBuffer(slabBytes)
    const slab: Slab = { buffer, keys: [], end: 0, usedMs: this.#nowMs() }
    this.#slabs.push(slab)
    this.#timer ??= setInterval(() => this.tidy(), busyMs).unref()
    return slab
  }

  /** A search that still reads them holds the memory. */
  #drop(slab: Slab): void {
    for (const key of slab.keys) this.#texts.delete(key)
    this.#slabs = this.#slabs.filter((each) => each !== slab)
  }
}

const share = 8
const ordinaryBytesMax = 2 ** 30

/** There is one memory, so there is one of these. An eighth of it, and of what a container may have. */
export const textStore: TextStore = new TextStore({
  bytesMax: Math.min(
    ordinaryBytesMax,
    Math.min(totalmem(), process.constrainedMemory() || Infinity) / share,
  ),
})
