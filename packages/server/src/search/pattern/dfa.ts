import { type Context, contextOf, contexts, holds, isWordByte } from './context.ts'
import type { Program } from './program.ts'

/** It cannot tell: a word may have characters beyond ASCII, or the table grows faster than it is used. */
export const gaveUp = -2
export const noMatch = -1

interface DfaOptions {
  /**
   * Goes from the end of a match to where it may begin first. Otherwise it goes forward from anywhere, to the end of the
   * match that begins first and is preferred.
   */
  readonly isBackward: boolean
  /** How many states the table may have. */
  readonly statesMax?: number
}

/** A state of the table: where the program may be, and what stood before. */
interface TableState {
  readonly list: readonly number[]
  readonly before: Context
  /** A match may also begin here. */
  readonly isSeeding: boolean
  /** A match ended one byte before. */
  readonly isMatch: boolean
}

const ordinaryStatesMax = 4000
const unknown = -1
const dead = 0
/** So often may the table be cleared without much text in between. */
const futileClearsMax = 8
const bytesPerState = 20

/**
 * Runs a program one byte at a time over a table that is filled as it is needed: the time is linear in the text, whatever
 * the pattern, and the memory is bounded.
 */
export class Dfa {
  readonly #program: Program
  readonly #isBackward: boolean
  readonly #statesMax: number
  /** The class of each byte: those that no state tells apart. The last class is the end of the text. */
  readonly #classes: Uint8Array
  readonly #stride: number
  readonly #marks: Uint32Array
  #mark = 0
  /** Next states, already multiplied by the stride; those with a match are written as `-3 - state`. */
  #table: Int32Array
  #states: TableState[] = []
  #ids = new Map<string, number>()
  #clears = 0
  #bytesAtClear = 0
  #bytes = 0
  /** Where it gave up in the last search. */
  stuckAt = 0

  constructor(program: Program, { isBackward, statesMax = ordinaryStatesMax }: DfaOptions) {
    this.#program = program
    this.#isBackward = isBackward
    this.#statesMax = statesMax
    const { classes, count } = byteClasses(program)
    this.#classes = classes
    this.#stride = count + 1
    this.#marks = new Uint32Array(program.states.length)
    this.#table = new Int32Array(64 * this.#stride)
    this.#clear()
  }

  /** Where the match ends that begins first, at `from` or later; with `isEarliest` where any match ends first. */
  findEnd(bytes: Uint8Array, from: number, end: number, isEarliest: boolean): number {
    const classes = this.#classes
    let state = this.#start(this.#contextAt(bytes, from - 1, end))
    this.stuckAt = from
    if (state === gaveUp) return gaveUp
    let last = noMatch
    // A field of the object in this loop takes most of its time.
    let table = this.#table
    for (let at = from; at < end; at++) {
      const byte = bytes[at]!
      let next = table[state + classes[byte]!]!
      if (next <= 0) {
        if (next === unknown) {
          next = this.#advance(state, byte)
          table = this.#table
        }
        if (next === dead) return this.#count(at - from, last)
        if (next === gaveUp) {
          this.stuckAt = at
          return gaveUp
        }
        if (next < gaveUp) {
          last = at
          if (isEarliest) return this.#count(at - from, last)
          next = -3 - next
        }
      } else if (next === state) {
        // Most bytes begin no match: a loop that waits for no state is three times as fast.
        while (++at < end && table[state + classes[bytes[at]!]!] === state);
        at--
      }
      state = next
    }
    const beyond = this.#advance(state, -1)
    return this.#count(end - from, beyond < gaveUp ? end : beyond === gaveUp ? gaveUp : last)
  }

  /** Where the match that ends at `from` begins, not before `to`. */
  findStart(bytes: Uint8Array, from: number, to: number, end: number): number {
    const classes = this.#classes
    let state = this.#start(this.#contextAt(bytes, from, end))
    if (state === gaveUp) return gaveUp
    let first = noMatch
    for (let at = from; at >= to; at--) {
      const byte = at > 0 ? bytes[at - 1]! : -1
      let next = byte < 0 ? unknown : this.#table[state + classes[byte]!]!
      if (next === unknown) next = this.#advance(state, byte)
      if (next === dead) return first
      if (next === gaveUp) return gaveUp
      if (next < gaveUp) {
        first = at
        next = -3 - next
      }
      state = next
    }
    return first
  }

  #count(bytes: number, result: number): number {
    this.#bytes += bytes
    return result
  }

  #contextAt(bytes: Uint8Array, index: number, end: number): Context | typeof gaveUp {
    if (!this.#program.hasLooks) return contexts.other
    if (index < 0 || index >= end) return contexts.edge
    const byte = bytes[index]!
    return byte >= 0x80 && this.#program.hasUnicodeWords ? gaveUp : contextOf(byte)
  }

  #start(before: Context | typeof gaveUp): number {
    if (before === gaveUp) return gaveUp
    const list = [this.#program.start]
    return this.#idOf({ list, before, isSeeding: !this.#isBackward, isMatch: false })
  }

  /** What follows a state, noted in the table. The byte -1 is the end of the text. */
  #advance(from: number, byte: number): number {
    const { hasUnicodeWords, hasLooks } = this.#program
    if (byte >= 0x80 && hasUnicodeWords) return gaveUp
    const klass = byte < 0 ? this.#stride - 1 : this.#classes[byte]!
    const known = this.#table[from + klass]!
    if (known !== unknown) return known
    const state = this.#states[from / this.#stride]!
    const after = !hasLooks ? contexts.other : byte < 0 ? contexts.edge : contextOf(byte)
    const { closed, isMatch } = this.#close(state, after)
    const isSeeding = state.isSeeding && !isMatch
    const list = byte < 0 ? [] : this.#step(closed, byte, isSeeding)
    if (this.#states.length >= this.#statesMax && !this.#clearFull()) return gaveUp
    const next = this.#idOf({ list, before: after, isSeeding, isMatch })
    // Unless the table was cleared, and the state that it came from with it.
    if (this.#states[from / this.#stride] === state) this.#table[from + klass] = next
    return next
  }

  /** All states that are reached without a byte, the preferred ones first. Forward, a match ends what is less preferred. */
  #close(
    { list, before }: TableState,
    after: Context,
  ): { closed: readonly number[]; isMatch: boolean } {
    const { states } = this.#program
    const mark = ++this.#mark
    const closed: number[] = []
    let isMatch = false
    const stack = list.toReversed()
    for (let id = stack.pop(); id !== undefined; id = stack.pop()) {
      if (this.#marks[id] === mark) continue
      this.#marks[id] = mark
      const state = states[id]!
      if (state.type === 'bytes') closed.push(id)
      else if (state.type === 'split')
        for (let at = state.to.length - 1; at >= 0; at--) stack.push(state.to[at]!)
      else if (state.type === 'look') {
        if (holds(state.look, before, after)) stack.push(state.to)
      } else {
        isMatch = true
        if (!this.#isBackward) break
      }
    }
    return { closed, isMatch }
  }

  #step(closed: readonly number[], byte: number, isSeeding: boolean): readonly number[] {
    const { states, start } = this.#program
    const list = new Set<number>()
    for (const id of closed) {
      const { steps } = states[id] as { steps: readonly number[] }
      for (let at = 0; at < steps.length; at += 3)
        if (byte >= steps[at]! && byte <= steps[at + 1]!) list.add(steps[at + 2]!)
    }
    if (isSeeding) list.add(start)
    return [...list]
  }

  #idOf(state: TableState): number {
    const { list, before, isSeeding, isMatch } = state
    if (list.length === 0 && !isMatch) return dead
    const key = `${list.join()};${before}${isSeeding ? 's' : ''}${isMatch ? 'm' : ''}`
    const known = this.#ids.get(key)
    if (known !== undefined) return known
    const at = this.#states.push(state) - 1
    if (this.#states.length * this.#stride > this.#table.length) this.#grow()
    const id = isMatch ? -3 - at * this.#stride : at * this.#stride
    this.#ids.set(key, id)
    return id
  }

  #grow(): void {
    const larger = new Int32Array(this.#table.length * 2).fill(unknown)
    larger.set(this.#table)
    this.#table = larger
  }

  /** False where clearing is of no use: there are hardly more bytes than states. */
  #clearFull(): boolean {
    const isFutile = this.#bytes - this.#bytesAtClear < this.#statesMax * bytesPerState
    this.#clears = isFutile ? this.#clears + 1 : 0
    this.#bytesAtClear = this.#bytes
    if (this.#clears > futileClearsMax) return false
    this.#clear()
    return true
  }

  #clear(): void {
    this.#states = [{ list: [], before: contexts.other, isSeeding: false, isMatch: false }]
    this.#ids = new Map()
    this.#table.fill(unknown)
    this.#table.fill(dead, 0, this.#stride)
  }
}

function byteClasses({ states, hasLooks }: Program): { classes: Uint8Array; count: number } {
  const begins = new Uint8Array(257)
  for (const state of states)
    if (state.type === 'bytes')
      for (let at = 0; at < state.steps.length; at += 3) {
        begins[state.steps[at]!] = 1
        begins[state.steps[at + 1]! + 1] = 1
      }
  for (let byte = 1; hasLooks && byte < 256; byte++)
    if ([0x0a, 0x0b, 0x80].includes(byte) || isWordByte(byte) !== isWordByte(byte - 1))
      begins[byte] = 1
  const classes = new Uint8Array(256)
  let count = 1
  for (let byte = 1; byte < 256; byte++) {
    if (begins[byte]) count++
    classes[byte] = count - 1
  }
  return { classes, count }
}
