import { createHash } from 'node:crypto'
import { ByteQueue, hashBytes, Writer } from '@cairn/protocol'
import {
  bundleMagic,
  type BundleRecord,
  malformed,
  recordBytesMax,
  type RecordType,
  recordTypes,
} from './records.ts'

/**
 * The records of a bundle, each followed by the hash of all that came before it. So damage at any byte is found at the record
 * where it is, before that is used.
 */
export class BundleWriter {
  #hash: Buffer = hashOf([Buffer.from(bundleMagic)])

  /** The hash of the bundle so far. That of its end is its id. */
  get hash(): string {
    return this.#hash.toString('hex')
  }

  record(type: RecordType, payload: Uint8Array): readonly Uint8Array[] {
    const front = frontOf(type, payload.length)
    this.#hash = hashOf([this.#hash, front, payload])
    return [front, payload, this.#hash]
  }
}

/** Reads bundles one after the other in a stream. */
export class BundleReader {
  readonly #queue: ByteQueue
  #hash: Buffer = Buffer.alloc(0)

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#queue = new ByteQueue(chunks)
  }

  /** The hash of the bundle as far as it was read; in its end, its id. */
  get hash(): string {
    return this.#hash.toString('hex')
  }

  /** False where the stream ends. */
  async begin(): Promise<boolean> {
    const magic = Buffer.from(await this.#queue.take(bundleMagic.length))
    if (magic.length === 0) return false
    if (magic.toString('latin1') !== bundleMagic) throw malformed('it is no bundle of this version')
    this.#hash = hashOf([magic])
    return true
  }

  async next(): Promise<BundleRecord> {
    const [number] = await this.#take(1)
    const type = recordTypes[number!]
    if (type === undefined) throw malformed(`it has a record of the unknown type ${number}`)
    const length = await this.#length(recordBytesMax(type))
    // What is taken is a part of a chunk, which is the stream's.
    const payload = (await this.#take(length)).slice()
    this.#hash = hashOf([this.#hash, frontOf(type, length), payload])
    const stated = Buffer.from(await this.#take(hashBytes))
    if (!stated.equals(this.#hash)) throw malformed('it is damaged: a record has another hash')
    return { type, payload }
  }

  /** Where a reader was told only how a bundle begins and ends. */
  async lastHash(): Promise<string> {
    return Buffer.from(await this.#take(hashBytes)).toString('hex')
  }

  async #length(most: number): Promise<number> {
    let length = 0
    for (let scale = 1; ; scale *= 128) {
      const [byte] = await this.#take(1)
      length += (byte! & 0x7f) * scale
      if (length > most) throw malformed(`it is damaged: a record has ${length} bytes`)
      if (byte! < 0x80) return length
    }
  }

  async #take(count: number): Promise<Uint8Array> {
    const bytes = await this.#queue.take(count)
    if (bytes.length < count) throw malformed('it is cut off')
    return bytes
  }
}

function frontOf(type: RecordType, length: number): Uint8Array {
  return new Writer(16).u8(recordTypes.indexOf(type)).varint(length).finish()
}

function hashOf(parts: readonly Uint8Array[]): Buffer {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
