import { closeSync, fstatSync, openSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { FuseIo } from '../fuse/native.ts'

const fileName = 'told'
const firstSlots = 2048
const { BYTES_PER_ELEMENT: slotBytes } = Float64Array

/**
 * The inodes that the kernel was told of, by its own numbers, in a file that is memory: a note costs no system call,
 * and survives the process that made it. The next one finds there what the kernel may remember. Rather too much than
 * too little: what was told twice, or forgotten since, stands there until the next `rewrite`. Files without a name are
 * exact: a negative number says that the kernel has forgotten that one.
 */
export class ToldFile {
  readonly #path: string
  readonly #fd: number
  readonly #io: Pick<FuseIo, 'mapFile' | 'leaveFile'>
  /** Zeros behind the last one. */
  #slots: Float64Array<ArrayBuffer> = new Float64Array()
  #length = 0
  #hasRoom = true

  constructor(directory: string, io: Pick<FuseIo, 'mapFile' | 'leaveFile'>) {
    this.#path = join(directory, fileName)
    this.#io = io
    this.#fd = openSync(this.#path, 'a+', 0o600)
    this.#grow(Math.max(firstSlots, Math.floor(fstatSync(this.#fd).size / slotBytes)))
    const end = this.#slots.indexOf(0)
    this.#length = end < 0 ? this.#slots.length : end
  }

  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#length; at++) yield this.#slots[at]!
  }

  /** False when there is no place for it before a `rewrite`. */
  add(nodeid: number): boolean {
    // On a full disk; only a crash would miss it.
    if (!this.#hasRoom) return true
    if (this.#length === this.#slots.length) return false
    this.#slots[this.#length++] = nodeid
    return true
  }

  /** These alone, in the order in which they were added: so none is missing while they move up, should it end there. */
  rewrite(known: Iterable<number>, count: number): void {
    if (2 * count > this.#slots.length) this.#grow(4 * count)
    if (!this.#hasRoom) return
    let at = 0
    for (const nodeid of known) this.#slots[at++] = nodeid
    this.#slots.fill(0, at, this.#length)
    this.#length = at
  }

  remove(): void {
    this.#use(new Float64Array())
    this.#hasRoom = false
    closeSync(this.#fd)
    rmSync(this.#path, { force: true })
  }

  #grow(slots: number): void {
    const mapped = this.#io.mapFile(this.#fd, slots * slotBytes, undefined)
    this.#hasRoom = typeof mapped !== 'number'
    if (typeof mapped !== 'number') this.#use(new Float64Array(mapped))
  }

  #use(slots: Float64Array<ArrayBuffer>): void {
    if (this.#slots.length > 0) this.#io.leaveFile(this.#slots.buffer)
    this.#slots = slots
  }
}
