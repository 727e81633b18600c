import { CairnError, formatHash, type Hash, hashBytes, toByteString } from '@cairn/protocol'
import { headerBytes, levelMax, nodeBytesMax, nodeVersion, wideFlag } from './layout.ts'

/** What an inner entry says of its child. */
export interface ChildRef {
  readonly hash: Hash
  /** Leaf entries below it. */
  readonly count: number
  /** Sum of their weights, as the tree's user defines weight. */
  readonly weight: number
}

/** One tree node, read in place: finding a key decodes nothing but the bytes it compares. */
export class TreeNode {
  readonly bytes: Uint8Array
  readonly level: number
  readonly length: number
  readonly #prefixLength: number
  readonly #ends: number
  readonly #endBytes: 2 | 4
  readonly #body: number

  /** Use `openNode`, which checks the bytes first. */
  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.level = bytes[1]! & ~wideFlag
    this.length = bytes[2]! | (bytes[3]! << 8)
    this.#prefixLength = bytes[4]! | (bytes[5]! << 8)
    this.#endBytes = bytes[1]! & wideFlag ? 4 : 2
    this.#ends = headerBytes + this.#prefixLength
    this.#body = this.#ends + this.length * this.#endBytes
  }

  /** Index of the first entry whose key is not below `key`; `length` when all are. */
  lowerBound(key: Uint8Array): number {
    const order = this.#comparePrefix(key)
    if (order !== 0) return order < 0 ? 0 : this.length
    let low = 0
    let high = this.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.#compareSuffix(middle, key) < 0) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Index of `key`, or −1. */
  find(key: Uint8Array): number {
    const index = this.lowerBound(key)
    return index < this.length && this.compareKey(index, key) === 0 ? index : -1
  }

  keyAt(index: number): Uint8Array {
    const start = this.#start(index)
    const suffix = this.#suffixLength(start)
    const key = new Uint8Array(this.#prefixLength + suffix.length)
    key.set(this.bytes.subarray(headerBytes, headerBytes + this.#prefixLength))
    key.set(this.bytes.subarray(suffix.at, suffix.at + suffix.length), this.#prefixLength)
    return key
  }

  /** A view into the node, not a copy. */
  valueAt(index: number): Uint8Array {
    const suffix = this.#suffixLength(this.#start(index))
    return this.bytes.subarray(suffix.at + suffix.length, this.#end(index))
  }

  /** Negative when the entry's key is below `key`. */
  compareKey(index: number, key: Uint8Array): number {
    const order = this.#comparePrefix(key)
    return order !== 0 ? -order : this.#compareSuffix(index, key)
  }

  childAt(index: number): ChildRef {
    return decodeChild(this.valueAt(index))
  }

  childHashAt(index: number): Hash {
    return toByteString(this.valueAt(index).subarray(0, hashBytes)) as Hash
  }

  /** Sign of `key` against the node's common prefix; 0 when `key` starts with it. */
  #comparePrefix(key: Uint8Array): number {
    const length = Math.min(key.length, this.#prefixLength)
    for (let i = 0; i < length; i++) {
      const difference = key[i]! - this.bytes[headerBytes + i]!
      if (difference !== 0) return difference
    }
    return key.length < this.#prefixLength ? -1 : 0
  }

  #compareSuffix(index: number, key: Uint8Array): number {
    const suffix = this.#suffixLength(this.#start(index))
    const keyLength = key.length - this.#prefixLength
    const length = Math.min(suffix.length, keyLength)
    for (let i = 0; i < length; i++) {
      const difference = this.bytes[suffix.at + i]! - key[this.#prefixLength + i]!
      if (difference !== 0) return difference
    }
    return suffix.length - keyLength
  }

  #start(index: number): number {
    return index === 0 ? this.#body : this.#end(index - 1)
  }

  #end(index: number): number {
    const at = this.#ends + index * this.#endBytes
    const low = this.bytes[at]! | (this.bytes[at + 1]! << 8)
    if (this.#endBytes === 2) return this.#body + low
    return this.#body + low + (this.bytes[at + 2]! << 16) + this.bytes[at + 3]! * 0x1000000
  }

  /** Keys are under 512 bytes, so the suffix length is one or two varint bytes. */
  #suffixLength(start: number): { at: number; length: number } {
    const first = this.bytes[start]!
    if (first < 0x80) return { at: start + 1, length: first }
    return { at: start + 2, length: (first & 0x7f) | (this.bytes[start + 1]! << 7) }
  }

  /** Every offset lies inside, keys ascend, children are whole. Run once, when the bytes arrive. */
  check(): string | undefined {
    if (this.#body > this.bytes.length) return 'more entries than bytes'
    let previous = this.#body
    for (let i = 0; i < this.length; i++) {
      const end = this.#end(i)
      if (end <= previous || end > this.bytes.length) return `entry ${i} out of bounds`
      const suffix = this.#suffixLength(previous)
      if (suffix.at + suffix.length > end) return `key ${i} out of bounds`
      if (this.level > 0 && !isChildRef(this.bytes.subarray(suffix.at + suffix.length, end)))
        return `child ${i} malformed`
      previous = end
    }
    if (previous !== this.bytes.length) return 'trailing bytes'
    for (let i = 1; i < this.length; i++)
      if (this.compareKey(i - 1, this.keyAt(i)) >= 0) return `key ${i} out of order`
    return undefined
  }
}

/** Checks structure, not identity: whoever fetched the bytes compares their hash. */
export function openNode(bytes: Uint8Array, hash: Hash): TreeNode {
  if (bytes[0] !== undefined && bytes[0] > nodeVersion)
    throw new CairnError('unsupported_version', {
      message: `cannot read tree node ${formatHash(hash)}: it has format ${bytes[0]}`,
      subject: formatHash(hash),
    })
  const problem = problemOf(bytes)
  if (problem === undefined) return new TreeNode(bytes)
  throw new CairnError('malformed', {
    message: `cannot read tree node ${formatHash(hash)}: ${problem}`,
    subject: formatHash(hash),
  })
}

function problemOf(bytes: Uint8Array): string | undefined {
  if (bytes.length < headerBytes) return 'too short'
  if (bytes.length > nodeBytesMax) return 'too long'
  if (bytes[0] !== nodeVersion) return 'no known format'
  const node = new TreeNode(bytes)
  if (node.level > levelMax) return 'too deep'
  if (node.level > 0 && node.length === 0) return 'an inner node without children'
  return node.check()
}

/** The counterpart of `encodeChild`, for values that `openNode` has checked or this process has made. */
export function decodeChild(value: Uint8Array): ChildRef {
  const count = readVarint(value, hashBytes)
  const weight = readVarint(value, count.next)
  return {
    hash: toByteString(value.subarray(0, hashBytes)) as Hash,
    count: count.value,
    weight: weight.value,
  }
}

function isChildRef(value: Uint8Array): boolean {
  if (value.length < hashBytes + 2) return false
  const count = readVarint(value, hashBytes)
  return readVarint(value, count.next).next === value.length
}

function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0
  let scale = 1
  for (; at < bytes.length; at++, scale *= 0x80) {
    const byte = bytes[at]!
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, next: at + 1 }
  }
  return { value, next: Infinity }
}
