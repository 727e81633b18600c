import type { Blobs, Op } from '@cairn/core'
import { CairnError, formatHash, type Hash, isCairnError } from '@cairn/protocol'

/** Two megabytes of memory for four gigabytes of content. */
const knownMax = 16_384
const readsAtOnce = 8

/** How long a blob that is not pointed at is relied on: much less than the collector waits. */
export interface BlobMemory {
  readonly nowMs: () => number
  readonly forMs: number
}

/** A blob that an operation names, with the length it is said to have. */
interface Named {
  readonly id: Hash
  readonly length: number
}

/**
 * What sessions may write from. A batch that names a blob which is not there would be in the log for good, and no fold
 * could ever pass it: so it is asked for before. Nearly always the session stored it here itself, just before.
 */
export class StoredBlobs {
  readonly #blobs: Pick<Blobs, 'read' | 'touch'>
  readonly #memory: BlobMemory
  /** Blobs that are stored, the longest known first. */
  readonly #known = new Map<Hash, { readonly length: number; readonly untilMs: number }>()

  constructor(blobs: Pick<Blobs, 'read' | 'touch'>, memory: BlobMemory) {
    this.#blobs = blobs
    this.#memory = memory
  }

  /** It was put or touched just now. */
  note(id: Hash, length: number): void {
    const { nowMs, forMs } = this.#memory
    this.#known.delete(id)
    this.#known.set(id, { length, untilMs: nowMs() + forMs })
    if (this.#known.size > knownMax) this.#known.delete(this.#known.keys().next().value!)
  }

  /** What is left to ask before these operations may be taken: undefined if nothing is. */
  checkOf(ops: readonly Op[]): (() => Promise<void>) | undefined {
    const named = blobsIn(ops)
    return named.every((blob) => this.#knows(blob)) ? undefined : () => this.#check(named)
  }

  async #check(named: readonly Named[]): Promise<void> {
    const unknown = named.filter((blob) => !this.#knows(blob)).values()
    const ask = async (): Promise<void> => {
      for (const blob of unknown) await this.#require(blob)
    }
    await Promise.all(Array.from({ length: readsAtOnce }, ask))
  }

  #knows({ id, length }: Named): boolean {
    return this.#lengthKnown(id) === length
  }

  #lengthKnown(id: Hash): number | undefined {
    const known = this.#known.get(id)
    return known && known.untilMs > this.#memory.nowMs() ? known.length : undefined
  }

  async #require({ id, length }: Named): Promise<void> {
    const stored = this.#lengthKnown(id) ?? (await this.#lengthOf(id))
    if (stored === length) return
    throw stored === undefined
      ? notStored(id)
      : refusal(id, `it has ${stored} bytes, not ${length}`)
  }

  async #lengthOf(id: Hash): Promise<number | undefined> {
    // Touched first: what is read may be gone a moment later, what is touched stays.
    if (!(await this.#blobs.touch(id))) return undefined
    try {
      const { length } = await this.#blobs.read(id)
      this.note(id, length)
      return length
    } catch (error) {
      if (isCairnError(error, 'blob_missing')) return undefined
      throw error
    }
  }
}

export function notStored(id: Hash): CairnError {
  return refusal(id, 'it is not stored here')
}

function refusal(id: Hash, why: string): CairnError {
  const blob = formatHash(id)
  return new CairnError('malformed', {
    what: `write from blob ${blob}`,
    reason: `${why}; store it with a blob message first`,
    subject: blob,
  })
}

function blobsIn(ops: readonly Op[]): readonly Named[] {
  return ops.flatMap((op) =>
    'data' in op && op.data.type === 'blob' ? [{ id: op.data.id, length: op.data.blobLength }] : [],
  )
}
