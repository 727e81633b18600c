import type { Blobs, Op } from '@cairn/core'
import { CairnError, formatHash, type Hash, isCairnError } from '@cairn/protocol'

/** Two megabytes of memory for four gigabytes of content. */
const knownMax = 16_384
const readsAtOnce = 8

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
  readonly #blobs: Pick<Blobs, 'read'>
  /** Lengths of blobs that are stored, the longest known first. */
  readonly #known = new Map<Hash, number>()

  constructor(blobs: Pick<Blobs, 'read'>) {
    this.#blobs = blobs
  }

  /** It is stored, durably. */
  note(id: Hash, length: number): void {
    this.#known.delete(id)
    this.#known.set(id, length)
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
    return this.#known.get(id) === length
  }

  async #require({ id, length }: Named): Promise<void> {
    const stored = this.#known.get(id) ?? (await this.#lengthOf(id))
    if (stored === length) return
    const blob = formatHash(id)
    const why =
      stored === undefined ? 'it is not stored here' : `it has ${stored} bytes, not ${length}`
    throw new CairnError('malformed', {
      message: `cannot write from blob ${blob}: ${why}; store it with a blob message first`,
      subject: blob,
    })
  }

  async #lengthOf(id: Hash): Promise<number | undefined> {
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

function blobsIn(ops: readonly Op[]): readonly Named[] {
  return ops.flatMap((op) =>
    'data' in op && op.data.type === 'blob' ? [{ id: op.data.id, length: op.data.blobLength }] : [],
  )
}
