import { CairnError, formatHash, type Hash, Reader, Writer } from '@cairn/protocol'
import type { BlobDraft, BlobStore } from '../ports/blob-store.ts'
import type { ContentWorker } from '../ports/content-worker.ts'
import { blockBytes } from './block.ts'
import { looksRandom } from './looks-random.ts'

const forms = { raw: 0, zstd: 1 } as const
/** Fewer bytes are not worth the 50 µs that a compressor takes to be made: there is at most a page to be saved. */
const compressBytesMin = 2048
const headScratch = new Writer(16)
/** A blob is at most one block, so a file's blocks can be blobs as they are. */
export const blobBytesMax: number = blockBytes
/** A form byte and the length of a whole block. */
export const blobHeadBytesMax = 4

export interface SealedBlob {
  readonly id: Hash
  /** What the store keeps: a form byte, the length, and the bytes, compressed where it pays. */
  readonly stored: Uint8Array
}

export interface DraftBlobs extends Omit<BlobDraft, 'put'> {
  readonly blobs: Blobs
}

/** Content in, content out: sealing, storing and checking in one place. */
export class Blobs {
  readonly #store: BlobStore
  readonly #worker: ContentWorker

  constructor(store: BlobStore, worker: ContentWorker) {
    this.#store = store
    this.#worker = worker
  }

  /**
   * The `headroom` bytes before `bytes` in their buffer may be written over: then what is stored can be the same memory,
   * which must stay as it is until it is stored. A copy of each block keeps the garbage collector at work.
   */
  async seal(bytes: Uint8Array, headroom = 0): Promise<SealedBlob> {
    if (bytes.length > blobBytesMax) throw new Error(`a blob takes at most ${blobBytesMax} bytes`)
    const [id, compressed] = await Promise.all([
      this.#worker.hash(bytes),
      bytes.length < compressBytesMin || looksRandom(bytes) ? bytes : this.#worker.compress(bytes),
    ])
    // Below a sixteenth saved, reading it plainly is worth more than the room.
    const pays = compressed.length < bytes.length - bytes.length / 16
    const head = headScratch
      .reset()
      .u8(pays ? forms.zstd : forms.raw)
      .varint(bytes.length).view
    const isInPlace = !pays && head.length <= headroom
    return {
      id,
      stored: isInPlace ? headBefore(head, bytes) : joined(head, pays ? compressed : bytes),
    }
  }

  async store(blobs: Iterable<SealedBlob>): Promise<void> {
    const map = new Map<Hash, Uint8Array>()
    for (const { id, stored } of blobs) map.set(id, stored)
    if (map.size > 0) await this.#store.put(map)
  }

  /** The same content, and `blobs` that may come to nothing: one of `keep` and `drop` ends them. */
  draft(nowMs: () => number): DraftBlobs {
    const [store, draft] = [this.#store, this.#store.draft(nowMs)]
    const blobs = new Blobs(
      {
        get: (id) => store.get(id),
        put: (each) => draft.put(each),
        touch: (ids) => store.touch(ids),
        draft: (each) => store.draft(each),
      },
      this.#worker,
    )
    return { blobs, keep: () => draft.keep(), drop: () => draft.drop() }
  }

  /** True when it is stored, and will stay for long enough to be pointed at. */
  async touch(id: Hash): Promise<boolean> {
    return (await this.#store.touch([id])).has(id)
  }

  /**
   * Rejects with `blob_missing`; with `corrupt` when the stored bytes are not the ones of that id; with
   * `unsupported_version` when they are stored in a form that this version does not know.
   */
  async read(id: Hash): Promise<Uint8Array> {
    return this.#openChecked({ id, stored: await this.#store.get(id) })
  }

  /** The same in the form in which it is stored. */
  async readSealed(id: Hash): Promise<SealedBlob> {
    const blob = { id, stored: await this.#store.get(id) }
    await this.check(blob)
    return blob
  }

  /** Rejects as `read` does. */
  async check(blob: SealedBlob): Promise<void> {
    await this.#openChecked(blob)
  }

  async #openChecked({ id, stored }: SealedBlob): Promise<Uint8Array> {
    const bytes = await this.#open(id, stored)
    if ((await this.#worker.hash(bytes)) === id) return bytes
    throw corrupt(id, 'its bytes have another hash')
  }

  async #open(id: Hash, stored: Uint8Array): Promise<Uint8Array> {
    const { form, length, payload } = readStored(id, stored)
    const bytes = form === forms.raw ? payload : await this.#decompress(id, payload, length)
    if (bytes.length === length) return bytes
    throw corrupt(id, `it has ${bytes.length} bytes instead of ${length}`)
  }

  async #decompress(id: Hash, payload: Uint8Array, length: number): Promise<Uint8Array> {
    try {
      return await this.#worker.decompress(payload, length)
    } catch (cause) {
      throw corrupt(id, 'its bytes cannot be decompressed', cause)
    }
  }
}

function headBefore(head: Uint8Array, bytes: Uint8Array): Uint8Array {
  const { buffer, byteOffset, length } = bytes
  const stored = new Uint8Array(buffer, byteOffset - head.length, head.length + length)
  stored.set(head)
  return stored
}

/** In memory of just that size: what is larger is copied once more on its way to a database. */
function joined(head: Uint8Array, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(head.length + payload.length)
  bytes.set(head)
  bytes.set(payload, head.length)
  return bytes
}

interface StoredBlob {
  readonly form: number
  readonly length: number
  readonly payload: Uint8Array
}

function readStored(id: Hash, stored: Uint8Array): StoredBlob {
  // A newer form may look different behind its first byte.
  if (stored[0] !== undefined && stored[0] > forms.zstd) throw unsupported(id, stored[0])
  const reader = new Reader(stored, 'blob')
  try {
    return {
      form: reader.u8(),
      length: reader.varint(blobBytesMax),
      payload: reader.raw(reader.remaining),
    }
  } catch (cause) {
    throw corrupt(id, 'its header is damaged', cause)
  }
}

function corrupt(id: Hash, why: string, cause?: unknown): CairnError {
  const subject = formatHash(id)
  return new CairnError('corrupt', {
    what: `read blob ${subject}`,
    reason: why,
    subject,
    cause,
  })
}

function unsupported(id: Hash, form: number): CairnError {
  const subject = formatHash(id)
  const [what, reason] = [`read blob ${subject}`, `it is stored in form ${form}`]
  return new CairnError('unsupported_version', { what, reason, subject })
}
