import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { KeyTable } from './key-table.ts'
import type { IndexClause, IndexStatus, NewContent } from './index-messages.ts'
import { verdicts } from './index-messages.ts'
import { encodeSegment, keyBytes, Segment, type SegmentEntry } from './segment.ts'
import type { SegmentCache } from './segment-cache.ts'
import { hashesOf, holdsAll, signatureOf } from './signature.ts'

/** Smaller segments are put together when there are so many. */
const smallBytes = 256 << 10
const smallMax = 8
const nameOf = (segment: number): string => `${segment}.segment`

interface Stored {
  readonly bytes: number
  readonly count: number
}

interface Question {
  readonly clauses: readonly (readonly Uint32Array[])[]
  readonly isText: boolean
}

/**
 * The signatures of a pool's contents, in files of some hundred KiB. It is a cache: what is missing or damaged is unknown,
 * and unknown contents are scanned.
 */
export class StoredIndex {
  readonly #directory: string
  readonly #cache: SegmentCache
  readonly #segments = new Map<number, Stored>()
  #table = new KeyTable()
  #opened: { readonly number: number; readonly segment: Segment } | undefined
  #last = 0
  bytes = 0

  constructor(directory: string, cache: SegmentCache) {
    this.#directory = directory
    this.#cache = cache
    for (const name of namesIn(directory)) {
      const number = Number(/^(\d+)\.segment$/.exec(name)?.[1] ?? 0)
      if (number > 0) this.#load(number)
      else rmSync(join(directory, name), { force: true, recursive: true })
    }
  }

  get status(): IndexStatus {
    let contents = 0
    for (const { count } of this.#segments.values()) contents += count
    return { contents, bytes: this.bytes }
  }

  /** Tells which keys are not known: a byte of 1 for each. */
  missing(keys: Uint8Array): Uint8Array {
    const words = wordsOf(keys)
    return Uint8Array.from({ length: keys.length / keyBytes }, (_, index) => {
      const slot = this.#table.find(words, index)
      return slot >= 0 && this.#segments.has(this.#table.segmentAt(slot)) ? 0 : 1
    })
  }

  add(contents: readonly NewContent[]): void {
    const entries: SegmentEntry[] = []
    for (const { key, bytes } of contents) entries.push({ key, signature: signatureOf(bytes) })
    if (entries.length > 0) this.#write(entries)
    this.#mergeSmall()
  }

  /** A verdict for each key. */
  select(keys: Uint8Array, clauses: readonly IndexClause[], isText: boolean): Uint8Array {
    const words = wordsOf(keys)
    const question = { clauses: clauses.map((texts) => texts.map(hashesOf)), isText }
    const answer = new Uint8Array(keys.length / keyBytes)
    for (let index = 0; index < answer.length; index++)
      answer[index] = this.#judge(words, index, question)
    return answer
  }

  #judge(keys: Uint32Array, index: number, { clauses, isText }: Question): number {
    const slot = this.#table.find(keys, index)
    if (slot < 0) return verdicts.unknown
    const segment = this.#open(this.#table.segmentAt(slot))
    if (!segment) return verdicts.unknown
    const at = this.#table.indexAt(slot)
    const kind = segment.kind(at)
    if (kind === 'binary') return isText ? verdicts.maybe : verdicts.no
    if (kind === 'unknown') return verdicts.maybe
    const [start, end] = [segment.start(at), segment.end(at)]
    for (const texts of clauses)
      if (!texts.some((hashes) => holdsAll(segment.bytes, start, end, hashes))) return verdicts.no
    return verdicts.maybe
  }

  #open(number: number): Segment | undefined {
    // Neighbours are asked for one after the other.
    if (number === this.#opened?.number) return this.#opened.segment
    if (!this.#segments.has(number)) return undefined
    const path = join(this.#directory, nameOf(number))
    const segment = this.#cache.get(path, () => readSegment(path))
    if (segment) this.#opened = { number, segment }
    else this.#forget(number)
    return segment
  }

  #load(number: number): void {
    const path = join(this.#directory, nameOf(number))
    this.#last = Math.max(this.#last, number)
    const segment = this.#cache.get(path, () => readSegment(path))
    if (!segment) rmSync(path, { force: true })
    else this.#note(number, segment)
  }

  #note(number: number, segment: Segment): void {
    const keys = new Uint8Array(segment.count * keyBytes)
    for (let index = 0; index < segment.count; index++)
      keys.set(segment.key(index), index * keyBytes)
    const words = wordsOf(keys)
    for (let index = 0; index < segment.count; index++) this.#table.set(words, index, number, index)
    this.#segments.set(number, { bytes: segment.bytes.length, count: segment.count })
    this.bytes += segment.bytes.length
  }

  /** Keys that were in it are unknown from now on. */
  #forget(number: number): void {
    const path = join(this.#directory, nameOf(number))
    this.bytes -= this.#segments.get(number)?.bytes ?? 0
    this.#segments.delete(number)
    this.#opened = undefined
    this.#cache.drop(path)
    rmSync(path, { force: true })
  }

  /** A file that a crash cuts off has a wrong checksum, so nothing is synced. */
  #write(entries: readonly SegmentEntry[]): void {
    const number = ++this.#last
    const bytes = encodeSegment(entries)
    const path = join(this.#directory, nameOf(number))
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 })
    writeFileSync(`${path}.new`, bytes, { mode: 0o600 })
    renameSync(`${path}.new`, path)
    const segment = Segment.open(bytes)!
    this.#cache.get(path, () => segment)
    this.#note(number, segment)
  }

  #mergeSmall(): void {
    const small = [...this.#segments].filter(([, { bytes }]) => bytes < smallBytes)
    if (small.length < smallMax) return
    const entries: SegmentEntry[] = []
    for (const [number] of small) {
      const segment = this.#open(number)
      for (let index = 0; index < (segment?.count ?? 0); index++)
        entries.push(segment!.entry(index))
    }
    // The entries are views of the old segments' bytes, which stay until the new one is written.
    if (entries.length > 0) this.#write(entries)
    for (const [number] of small) if (this.#segments.has(number)) this.#forget(number)
  }

  /** Rewrites the index without what is in none of these keys. */
  keep(keys: Uint8Array): void {
    const words = wordsOf(keys)
    const kept = new KeyTable()
    for (let index = 0; index < keys.length / keyBytes; index++) kept.set(words, index, 1, index)
    for (const number of this.#segments.keys()) this.#shrink(number, kept)
    const numbers = [...this.#segments.keys()]
    this.#table = new KeyTable()
    this.#segments.clear()
    this.bytes = 0
    for (const number of numbers) this.#load(number)
  }

  #shrink(number: number, kept: KeyTable): void {
    const segment = this.#open(number)
    if (!segment) return
    const entries: SegmentEntry[] = []
    for (let index = 0; index < segment.count; index++)
      if (kept.find(wordsOf(Uint8Array.from(segment.key(index))), 0) >= 0)
        entries.push(segment.entry(index))
    if (entries.length === segment.count) return
    if (entries.length > 0) this.#write(entries)
    this.#forget(number)
  }

  remove(): void {
    for (const number of this.#segments.keys()) this.#forget(number)
    this.#table = new KeyTable()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}

function readSegment(path: string): Segment | undefined {
  try {
    return Segment.open(readFileSync(path))
  } catch {
    // Deleted, or a disk that cannot read it: either way its contents are unknown.
    return undefined
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function wordsOf(keys: Uint8Array): Uint32Array {
  return new Uint32Array(keys.buffer, keys.byteOffset, keys.length / 4)
}
