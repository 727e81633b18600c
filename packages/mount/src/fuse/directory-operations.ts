import type { ByteString } from '@cairn/protocol'
import { entryBytes, putEntry, putNoEntry, putU64 } from './encode.ts'
import type { Answer, Directory, Entry } from './file-system.ts'
import { after, type AnyOperation, type OperationContext, type Operation } from './operation.ts'
import { opcode } from './opcodes.ts'

/** A listing goes on from where the last part ended, so no part has to be larger. */
const listingBytes = 64 << 10
const recordBytes = 24
const typeOfDirectory = 4

/**
 * Part of a listing while it is filled. It has a buffer of its own, because a directory that must be fetched
 * is filled while other requests are answered.
 */
class Listing {
  readonly bytes: Buffer
  readonly #words: Uint32Array
  readonly #nodeids: number[] = []
  #plus = false
  #room = 0
  length = 0

  constructor() {
    const memory = new ArrayBuffer(listingBytes)
    this.bytes = Buffer.from(memory)
    this.#words = new Uint32Array(memory)
  }

  begin(plus: boolean, room: number): void {
    this.#plus = plus
    this.#room = Math.min(room, listingBytes)
    this.#nodeids.length = 0
    this.length = 0
  }

  add(name: ByteString, position: number, entry: Entry | Directory): boolean {
    if (typeof entry === 'number')
      return this.#put(name, position, entry, typeOfDirectory, undefined)
    const { ino, mode } = entry.attributes
    if (!this.#put(name, position, ino, mode >>> 12, entry)) return false
    this.#nodeids.push(entry.nodeid)
    return true
  }

  /** `.` and `..`: without an entry, because the kernel knows them. */
  addDots(ino: number, parent: number, offset: number): boolean {
    return (
      (offset > 0 || this.#put('.', 1, ino, typeOfDirectory, undefined)) &&
      (offset > 1 || this.#put('..', 2, parent, typeOfDirectory, undefined))
    )
  }

  /** Takes back the lookups of what the kernel was not given. */
  forget({ fs }: OperationContext): void {
    for (const nodeid of this.#nodeids) fs.forget(nodeid, 1)
  }

  #put(
    name: ByteString,
    position: number,
    ino: number,
    type: number,
    entry: Entry | undefined,
  ): boolean {
    const before = this.#plus ? entryBytes : 0
    const bytes = (before + recordBytes + name.length + 7) & ~7
    if (this.length + bytes > this.#room) return false
    const at = this.length >> 2
    if (this.#plus && entry === undefined) putNoEntry(this.#words, at, 0)
    else if (this.#plus && entry !== undefined) putEntry(this.#words, at, entry)
    const record = at + before / 4
    putU64(this.#words, record, ino)
    putU64(this.#words, record + 2, position)
    this.#words[record + 4] = name.length
    this.#words[record + 5] = type
    const nameAt = this.length + before + recordBytes
    this.bytes.write(name, nameAt, 'latin1')
    this.length += bytes
    this.bytes.fill(0, nameAt + name.length, this.length)
    return true
  }
}

/** Listings that are not in use. As many as were ever filled at once. */
const idle: Listing[] = []

/** A listing that fails half-way gives the kernel nothing, so nothing of it may stay counted. */
function fill(
  context: OperationContext,
  nodeid: number,
  offset: number,
  listing: Listing,
): Answer<void> {
  const fail = (error: unknown): never => {
    listing.forget(context)
    throw error
  }
  try {
    const filled = context.fs.readdir(nodeid, offset, (...entry) => listing.add(...entry))
    return filled instanceof Promise ? filled.catch(fail) : filled
  } catch (error) {
    return fail(error)
  }
}

function makeReaddir(name: string, plus: boolean): Operation<Listing> {
  return {
    name,
    call(context, request) {
      const { nodeid } = request
      const offset = request.u64(48)
      const listing = idle.pop() ?? new Listing()
      listing.begin(plus, request.u32(56))
      const { self, parent } = context.fs.dots(nodeid)
      if (!listing.addDots(self, parent, offset)) return listing
      return after(fill(context, nodeid, offset > 2 ? offset : 0, listing), () => {
        if (!plus) listing.forget(context)
        return listing
      })
    },
    write: (reply, listing) => reply.data(listing.bytes.subarray(0, listing.length)),
    end: (listing) => void idle.push(listing),
    undo(context, listing) {
      if (plus) listing.forget(context)
    },
  }
}

export const directoryOperations: Readonly<Record<number, AnyOperation>> = {
  [opcode.readdir]: makeReaddir('READDIR', false),
  [opcode.readdirplus]: makeReaddir('READDIRPLUS', true),
  [opcode.releasedir]: { name: 'RELEASEDIR', call: () => undefined },
}
