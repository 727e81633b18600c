import { applyOp, blockBytes, Changes, foldedLength, type Inode, type Op } from '@cairn/core'
import { type Ino, rootIno } from '@cairn/protocol'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import { create, emptyRoot, time } from '../../test/server-tree.ts'
import { isGuess } from './count-bytes.ts'
import { Image } from './image.ts'

const file = 7 as Ino
const other = 8 as Ino

/** The same operations, with the bytes of files and without. */
class Both {
  readonly image = newImage()
  readonly #server = new Changes(newImage())

  apply(op: Op): void {
    this.image.absorb(this.image.plan([op]))
    applyOp(this.#server, op)
  }

  get counted(): Inode {
    return this.image.inode(file)!
  }

  get atServer(): number {
    const { content, size } = this.#server.inode(file)!
    return foldedLength(content!, size, () => undefined).bytes
  }
}

function newImage(): Image {
  const image = new Image()
  image.install({ ino: rootIno, inode: emptyRoot, links: [] })
  image.installDirectory(rootIno, [])
  for (const op of [create('f', file), create('g', other)]) image.absorb(image.plan([op]))
  return image
}

const change = { ino: file, time, dropPrivileges: false } as const

function write(offset: number, ...bytes: number[]): Op {
  return {
    type: 'write',
    ...change,
    offset,
    data: { type: 'bytes', bytes: Uint8Array.of(...bytes) },
  }
}

function append(...bytes: number[]): Op {
  return { type: 'append', ...change, data: { type: 'bytes', bytes: Uint8Array.of(...bytes) } }
}

function resize(size: number): Op {
  return { type: 'setattr', ino: file, time, size }
}

const place = fc
  .tuple(fc.nat(2), fc.integer({ min: -3, max: 3 }))
  .map(([border, by]) => Math.max(0, border * blockBytes + by))
const bytes = fc
  .tuple(fc.constantFrom(1, 2, 5, blockBytes), fc.nat(1), fc.nat(3))
  .map(([length, fill, zeros]) => [...new Uint8Array(length).fill(fill), ...new Uint8Array(zeros)])
const modes = fc.constantFrom('allocate', 'punch', 'zero', 'zero-keep-size')
const length = fc.constantFrom(1, 3, blockBytes)
const ops = fc.oneof(
  fc.tuple(place, bytes).map(([offset, data]) => write(offset, ...data.slice(0, 1000))),
  fc.tuple(place, bytes).map(([offset, data]): Op => ({
    type: 'write',
    ...change,
    offset,
    data: { type: 'bytes', bytes: Uint8Array.from(data) },
  })),
  bytes.map((data): Op => ({
    type: 'append',
    ...change,
    data: { type: 'bytes', bytes: Uint8Array.from(data) },
  })),
  place.map((size) => resize(size)),
  fc
    .record({ mode: modes, offset: place, length })
    .map((range): Op => ({ type: 'fallocate', ...change, ...range }) as Op),
)

describe('how many bytes a file takes', () => {
  let both: Both

  beforeEach(() => {
    both = new Both()
  })

  it('any writes, appends, cuts and holes: what is no guess is what the server counts', () => {
    fc.assert(
      fc.property(fc.array(ops, { maxLength: 8 }), (list) => {
        const both = new Both()
        for (const op of list) {
          both.apply(op)
          if (!isGuess(both.counted)) expect(both.counted.content?.allocated).toBe(both.atServer)
        }
      }),
      { numRuns: 500 },
    )
  })

  it('a file that is written from its beginning on is no guess, whatever zeros are in it', () => {
    for (const op of [write(0, 1, 0, 2), append(0, 0), append(3), append(0), write(1, 5)])
      both.apply(op)
    expect(isGuess(both.counted)).toBe(false)
    expect(both.counted.content?.allocated).toBe(6)
  })

  it('a block that is left out makes a guess, and the answer of the server ends it', () => {
    both.apply(write(2 * blockBytes, 1))
    expect(isGuess(both.counted)).toBe(true)
    both.image.count(file, both.counted.content, both.atServer)
    expect(isGuess(both.counted)).toBe(false)
    both.apply(resize(0))
    both.apply(append(1))
    expect(isGuess(both.counted)).toBe(false)
  })

  it('an answer about other content than there is by now is not taken', () => {
    both.apply(write(2 * blockBytes, 1))
    const { content } = both.counted
    both.apply(write(0, 1))
    both.image.count(file, content, 1)
    expect(isGuess(both.counted)).toBe(true)
    expect(both.counted.content?.allocated).toBe(2)
  })
})
