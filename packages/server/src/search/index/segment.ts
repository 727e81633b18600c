import { crc32 } from 'node:zlib'
import type { Signature } from './signature.ts'

/** The first half of a SHA-256: enough that no two contents are taken for one. */
export const keyBytes = 16

/**
 * Signatures in one file: `CSX1`, the number of entries, a checksum of what follows, then for each entry its key, where its
 * bits end, and what kind it is; then the bits. A segment is written once, and never changed.
 */
const magic = 0x31585343
const headBytes = 12
const entryBytes = keyBytes + 8
const kinds = ['bits', 'binary', 'unknown'] as const

export interface SegmentEntry {
  readonly key: Uint8Array
  readonly signature: Signature
}

export function encodeSegment(entries: readonly SegmentEntry[]): Buffer {
  const sizes = entries.map(({ signature }) =>
    signature.kind === 'bits' ? signature.bits.length : 0,
  )
  const bitsStart = headBytes + entries.length * entryBytes
  const bytes = Buffer.alloc(sizes.reduce((sum, size) => sum + size, bitsStart))
  let end = bitsStart
  for (const [index, { key, signature }] of entries.entries()) {
    const at = headBytes + index * entryBytes
    bytes.set(key, at)
    if (signature.kind === 'bits') bytes.set(signature.bits, end)
    end += sizes[index]!
    bytes.writeUInt32LE(end, at + keyBytes)
    bytes.writeUInt32LE(kinds.indexOf(signature.kind), at + keyBytes + 4)
  }
  bytes.writeUInt32LE(magic, 0)
  bytes.writeUInt32LE(entries.length, 4)
  bytes.writeUInt32LE(crc32(bytes.subarray(headBytes)), 8)
  return bytes
}

/** The bytes of a segment whose checksum was right. */
export class Segment {
  readonly bytes: Buffer
  readonly count: number

  private constructor(bytes: Buffer) {
    this.bytes = bytes
    this.count = bytes.readUInt32LE(4)
  }

  /** Undefined for bytes that are damaged, cut off, or of another version. */
  static open(bytes: Buffer): Segment | undefined {
    if (bytes.length < headBytes || bytes.readUInt32LE(0) !== magic) return undefined
    if (crc32(bytes.subarray(headBytes)) !== bytes.readUInt32LE(8)) return undefined
    return new Segment(bytes)
  }

  key(index: number): Uint8Array {
    const at = headBytes + index * entryBytes
    return this.bytes.subarray(at, at + keyBytes)
  }

  kind(index: number): Signature['kind'] {
    return kinds[this.bytes[headBytes + index * entryBytes + keyBytes + 4]!]!
  }

  start(index: number): number {
    return index === 0 ? headBytes + this.count * entryBytes : this.end(index - 1)
  }

  end(index: number): number {
    return this.bytes.readUInt32LE(headBytes + index * entryBytes + keyBytes)
  }

  entry(index: number): SegmentEntry {
    const kind = this.kind(index)
    if (kind !== 'bits') return { key: this.key(index), signature: { kind } }
    const bits = this.bytes.subarray(this.start(index), this.end(index))
    return { key: this.key(index), signature: { kind, bits } }
  }
}
