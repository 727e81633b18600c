import { CairnError, formatHash, type Hash, hashBytes, toByteString } from '@cairn/protocol'
import { type ChildRef, decodeChild, isChildRef } from './child-ref.ts'
import {
  headerBytes,
  keyBytesMax,
  levelMax,
  nodeBytesMax,
  nodeVersion,
  wideFlag,
} from './layout.ts'

/** One tree node, read in place: finding a key decodes nothing but the bytes it compares. */
export class TreeNode {
  readonly bytes: Uint8Array
  readonly level: number
  readonly length: number
  readonly #prefixLength: number
  readonly #ends: number
  readonly #endBytes: 2 | 4
  readonly #body: number
  /** Those that were asked for: every look-up takes the same few steps down, and a string knows its own hash code. */
  #childHashes: Hash[] | undefined

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
    if (this.#comparePrefix(key) !== 0) return -1
    const index = this.lowerBound(key)
    return index < this.length && this.#compareSuffix(index, key) === 0 ? index : -1
  }

  keyAt(index: number): Uint8Array {
    const start = this.#start(index)
    const suffix = this.#suffixAt(start) - this.#prefixLength
    const key = new Uint8Array(this.#prefixLength + this.#suffixLength(start))
    // Byte by byte: for so few, making views to copy from costs more than copying.
    for (let i = 0; i < this.#prefixLength; i++) key[i] = this.bytes[headerBytes + i]!
    for (let i = this.#prefixLength; i < key.length; i++) key[i] = this.bytes[suffix + i]!
    return key
  }

  /** A view into the node, not a copy. */
  valueAt(index: number): Uint8Array {
    return this.bytes.subarray(this.#valueStart(index), this.#end(index))
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
    this.#childHashes ??= []
    return (this.#childHashes[index] ??= this.#readChildHash(index))
  }

  /** Negative when the key at `index` is below `other`'s at `otherIndex`. Copies neither: every step down asks. */
  compareKeys(index: number, other: TreeNode, otherIndex: number): number {
    const start = this.#start(index)
    const otherStart = other.#start(otherIndex)
    const length = this.#keyLength(start)
    const otherLength = other.#keyLength(otherStart)
    for (let i = 0; i < length && i < otherLength; i++) {
      const difference = this.#keyByte(start, i) - other.#keyByte(otherStart, i)
      if (difference !== 0) return difference
    }
    return length - otherLength
  }

  /**
   * How many entries from `index` on are the same in `other` from `otherIndex` on. Compares them as they are
   * stored, so it sees only runs under the same prefix; that is nearly all of them, at a tenth of the cost.
   */
  commonRun(index: number, other: TreeNode, otherIndex: number): number {
    if (!this.#samePrefix(other)) return 0
    let run = 0
    while (index + run < this.length && otherIndex + run < other.length) {
      const start = this.#start(index + run)
      const otherStart = other.#start(otherIndex + run)
      const length = this.#end(index + run) - start
      if (length !== other.#end(otherIndex + run) - otherStart) break
      let same = 0
      while (same < length && this.bytes[start + same] === other.bytes[otherStart + same]) same++
      if (same < length) break
      run++
    }
    return run
  }

  #readChildHash(index: number): Hash {
    const start = this.#valueStart(index)
    return toByteString(this.bytes.subarray(start, start + hashBytes)) as Hash
  }

  #samePrefix(other: TreeNode): boolean {
    if (this.#prefixLength !== other.#prefixLength) return false
    for (let i = headerBytes; i < headerBytes + this.#prefixLength; i++)
      if (this.bytes[i] !== other.bytes[i]) return false
    return true
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
    const start = this.#start(index)
    const suffix = this.#suffixAt(start)
    const suffixLength = this.#suffixLength(start)
    const keyLength = key.length - this.#prefixLength
    const length = Math.min(suffixLength, keyLength)
    for (let i = 0; i < length; i++) {
      const difference = this.bytes[suffix + i]! - key[this.#prefixLength + i]!
      if (difference !== 0) return difference
    }
    return suffixLength - keyLength
  }

  #keyLength(start: number): number {
    return this.#prefixLength + this.#suffixLength(start)
  }

  #keyByte(start: number, at: number): number {
    if (at < this.#prefixLength) return this.bytes[headerBytes + at]!
    return this.bytes[this.#suffixAt(start) + at - this.#prefixLength]!
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

  #valueStart(index: number): number {
    const start = this.#start(index)
    return this.#suffixAt(start) + this.#suffixLength(start)
  }

  /** Keys are under 512 bytes, so the length of a suffix is one or two varint bytes. */
  #suffixAt(start: number): number {
    return this.bytes[start]! < 0x80 ? start + 1 : start + 2
  }

  #suffixLength(start: number): number {
    const first = this.bytes[start]!
    return first < 0x80 ? first : (first & 0x7f) | (this.bytes[start + 1]! << 7)
  }

  /**
   * What is wrong with the bytes, if anything: offsets outside, keys out of order, children that are none, or
   * another spelling of the same entries than `encodeNode` gives. Run once, when the bytes arrive.
   */
  findProblem(): string | undefined {
    if (this.#body > this.bytes.length) return 'more entries than bytes'
    for (let i = 0; i < this.length; i++) {
      const problem = this.#findEntryProblem(i)
      if (problem) return `${problem} in entry ${i}`
    }
    const end = this.length > 0 ? this.#end(this.length - 1) : this.#body
    if (end !== this.bytes.length) return 'trailing bytes'
    if (end - this.#body > 0xffff !== (this.#endBytes === 4)) return 'ends of another width'
    for (let i = 1; i < this.length; i++)
      if (this.compareKeys(i - 1, this, i) >= 0) return `key ${i} out of order`
    return this.#hasWholePrefix() ? this.#findSumProblem() : 'another prefix than its keys have'
  }

  #findEntryProblem(index: number): string | undefined {
    const start = this.#start(index)
    const end = this.#end(index)
    if (end <= start || end > this.bytes.length) return 'an end out of bounds'
    if (this.#valueStart(index) > end) return 'a key out of bounds'
    if (this.#keyLength(start) > keyBytesMax) return 'a long key'
    if (this.bytes[start]! >= 0x80 && this.bytes[start + 1] === 0) return 'a padded length'
    if (this.level > 0 && !isChildRef(this.valueAt(index))) return 'no child'
    return undefined
  }

  /** Keys ascend, so the prefix of the first and the last is that of all. */
  #hasWholePrefix(): boolean {
    if (this.length === 0) return this.#prefixLength === 0
    const first = this.#start(0)
    if (this.#suffixLength(first) === 0) return true
    const last = this.#start(this.length - 1)
    return first !== last && this.bytes[this.#suffixAt(first)] !== this.bytes[this.#suffixAt(last)]
  }

  /** Sums that no number holds could not be written into the level above. */
  #findSumProblem(): string | undefined {
    let [count, weight] = [0, 0]
    for (let i = 0; i < this.length && this.level > 0; i++) {
      const child = this.childAt(i)
      count += child.count
      weight += child.weight
    }
    return Math.max(count, weight) > Number.MAX_SAFE_INTEGER ? 'sums above 2^53' : undefined
  }
}

/** Checks structure, not identity: the code that fetched the bytes compares their hash. */
export function openNode(bytes: Uint8Array, hash: Hash): TreeNode {
  if (bytes[0] !== undefined && bytes[0] > nodeVersion)
    throw new CairnError('unsupported_version', {
      what: `read tree node ${formatHash(hash)}`,
      reason: `it has format ${bytes[0]}`,
      subject: formatHash(hash),
    })
  const problem = problemOf(bytes)
  if (problem === undefined) return new TreeNode(bytes)
  throw new CairnError('malformed', {
    what: `read tree node ${formatHash(hash)}`,
    reason: problem,
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
  return node.findProblem()
}
