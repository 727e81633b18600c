import { maxWriteBytes } from './init.ts'
import { Request } from './request.ts'

/** The kernel refuses a smaller buffer than its largest request needs. */
const requestBytes = maxWriteBytes + 4096
/** More than there are threads that could wait. Those beyond are not noted. */
const notesMax = 4096
const wordsPerNote = 2

export const requestMemoryBytes: number =
  requestBytes + notesMax * wordsPerNote * Uint32Array.BYTES_PER_ELEMENT

/** The kernel's number for a request: the lower and the upper half. */
export type Unique = readonly [low: number, high: number]

/**
 * The buffer that requests are read into and, behind it, the numbers of those that are parked. In memory that outlives
 * this process, the next one finds there whom it owes an answer. The request at hand needs no note: the kernel itself
 * puts it there before the read returns, so that whenever this process is killed, none was read and is not known.
 */
export class RequestMemory {
  readonly request: Request
  readonly #notes: Uint32Array
  readonly #free: number[] = []
  #used = 0

  /**
   * `memory` has `requestMemoryBytes`; requests that an earlier process left there stay until
   * `takeLeft`.
   */
  constructor(memory: ArrayBuffer = new ArrayBuffer(requestMemoryBytes)) {
    this.request = new Request(memory, requestBytes)
    this.#notes = new Uint32Array(memory, requestBytes)
  }

  /** Those that an earlier process read and may not have answered. */
  takeLeft(): readonly Unique[] {
    const left: Unique[] = [[this.request.uniqueLow, this.request.uniqueHigh]]
    for (let at = 0; at < this.#notes.length; at += wordsPerNote)
      left.push([this.#notes[at]!, this.#notes[at + 1]!])
    this.#notes.fill(0)
    return left.filter(([low, high]) => low !== 0 || high !== 0)
  }

  /** Gives where it stands. */
  note(low: number, high: number): number {
    const at = this.#free.pop() ?? wordsPerNote * this.#used++
    this.#put(at, low, high)
    return at
  }

  /** It was answered. */
  clear(at: number): void {
    this.#put(at, 0, 0)
    this.#free.push(at)
  }

  #put(at: number, low: number, high: number): void {
    this.#notes[at] = low
    this.#notes[at + 1] = high
  }
}
