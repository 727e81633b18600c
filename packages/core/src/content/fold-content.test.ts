import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { assemble } from './assemble.ts'
import { blockBytes, type BlockRef, fileBytesMax, inlineBytesMax } from './block.ts'
import {
  allocatedBytes,
  type Content,
  emptyContent,
  extentsOf,
  truncateContent,
  writeContent,
  type FoldedBlock,
} from './content.ts'
import { foldContent, type FoldedBlocks, planBlocks } from './fold-content.ts'
import { type FoldedLength, foldedLength } from './folded-length.ts'
import { seekData, seekHole } from './seek.ts'

/** A file as the tree and the rules keep it between them. */
class TestFile {
  content: Content = emptyContent
  size = 0
  #folded = { size: 0, first: undefined as BlockRef | undefined, allocated: 0 }
  readonly blocks = new Map<number, BlockRef>()
  readonly #blobs = new MemoryStores().blobs

  blockFrom = (index: number): FoldedBlock | undefined => {
    const [next] = [...this.blocks.keys()].filter((other) => other >= index).sort((a, b) => a - b)
    return next === undefined ? undefined : { index: next, block: this.blocks.get(next)! }
  }

  write(offset: number, bytes: Uint8Array): void {
    const source = { type: 'bytes', bytes } as const
    this.content = writeContent(this.content, { offset, length: bytes.length, source })
    this.size = Math.max(this.size, offset + bytes.length)
  }

  makeHole(offset: number, end: number): void {
    if (offset < end)
      this.content = writeContent(this.content, {
        offset,
        length: end - offset,
        source: undefined,
      })
  }

  resize(size: number): void {
    if (size < this.size) this.content = truncateContent(this.content, size)
    this.size = size
  }

  async fold(): Promise<void> {
    const folded: FoldedBlocks = {
      ...this.#folded,
      blockFrom: this.blockFrom,
      indexesFrom: (index) => [...this.blocks.keys()].filter((other) => other >= index),
    }
    const plan = planBlocks(this.content, this.size, folded)
    const { content, blocks, sealed } = await foldContent(this.size, folded, plan, this.#blobs)
    await this.#blobs.store(sealed)
    for (const [index, block] of blocks)
      if (block) this.blocks.set(index, block)
      else this.blocks.delete(index)
    this.content = content
    this.#folded = { size: this.size, first: content.first, allocated: content.allocated }
  }

  get foldedLength(): FoldedLength {
    return foldedLength(this.content, this.size, this.blockFrom)
  }

  read(): Promise<Uint8Array> {
    return assemble([...extentsOf(this.content, this.blockFrom, 0, this.size)], this.#blobs)
  }
}

/** Where mistakes live: around the borders of blocks. */
const place = fc
  .tuple(fc.nat(2), fc.integer({ min: -3, max: 3 }))
  .map(([border, by]) => Math.max(0, border * blockBytes + by))
const length = fc.constantFrom(1, 5, inlineBytesMax, blockBytes - 1, blockBytes, blockBytes + 1)

const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('write'), place, length, fill: fc.nat(2) }),
    fc.record({ type: fc.constant('hole'), place, length }),
    fc.record({ type: fc.constant('resize'), place }),
    fc.record({ type: fc.constant('fold') }),
  ),
  { maxLength: 12 },
)
type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never

async function take(step: Step, file: TestFile, plain: Uint8Array): Promise<void> {
  switch (step.type) {
    case 'write':
      file.write(step.place, new Uint8Array(step.length).fill(step.fill))
      plain.fill(step.fill, step.place, step.place + step.length)
      return
    case 'hole':
      file.makeHole(step.place, Math.min(file.size, step.place + step.length))
      plain.fill(0, step.place, Math.min(file.size, step.place + step.length))
      return
    case 'resize':
      file.resize(step.place)
      plain.fill(0, step.place)
      return
    case 'fold':
      return file.fold()
  }
}

describe('foldContent', () => {
  it('any writes, holes, cuts and folds: the file reads as a plain array of bytes', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const file = new TestFile()
        const plain = new Uint8Array(4 * blockBytes)
        for (const step of list) {
          await take(step, file, plain)
          const read = await file.read()
          expect(Buffer.compare(read, plain.subarray(0, file.size))).toBe(0)
        }
      }),
      { numRuns: 60 },
    )
  })

  it('the same bytes, whatever their history: the same blocks', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const file = new TestFile()
        for (const step of list) await take(step, file, new Uint8Array())
        await file.fold()
        const once = new TestFile()
        once.write(0, await file.read())
        await once.fold()
        expect(file.content).toEqual(once.content)
        expect(file.blocks).toEqual(once.blocks)
        expect(allocatedBytes(file.content)).toBe(once.content.allocated)
      }),
      { numRuns: 60 },
    )
  })

  it('any writes, holes and cuts: how long the blocks will be is known before, or a bound of it', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (list) => {
        const file = new TestFile()
        for (const step of list) {
          const before = file.foldedLength
          await take(step, file, new Uint8Array())
          if (step.type !== 'fold') continue
          const { allocated } = file.content
          expect(file.foldedLength).toEqual({ bytes: allocated, isExact: true })
          expect(before.bytes).toBeGreaterThanOrEqual(allocated)
          if (before.isExact) expect(before.bytes).toBe(allocated)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('only the cut end of a stored blob keeps the length of its block from being known', async () => {
    const file = new TestFile()
    file.write(0, new Uint8Array(4096).fill(1))
    file.write(200_000, new Uint8Array(4096).fill(1))
    file.resize(10_000_000)
    expect(file.foldedLength).toEqual({ bytes: 204_096, isExact: true })
    await file.fold()
    file.makeHole(1000, 2000)
    file.write(5_000_000, Uint8Array.of(1, 0, 0))
    expect(file.foldedLength.isExact).toBe(true)
    file.makeHole(204_000, 205_000)
    expect(file.foldedLength.isExact).toBe(false)
    file.write(203_999, Uint8Array.of(1))
    expect(file.foldedLength.isExact).toBe(true)
  })

  it('a hole as long as the longest file: costs as little as a short one', async () => {
    const file = new TestFile()
    file.write(0, Uint8Array.of(1, 2, 3))
    file.write(9 * blockBytes, Uint8Array.of(4))
    file.resize(fileBytesMax)
    await file.fold()
    file.makeHole(1, fileBytesMax - 1)
    await file.fold()
    expect(file.content.first).toEqual({ type: 'inline', bytes: Uint8Array.of(1) })
    expect(file.blocks.size).toBe(0)
  })

  it('zeros: no block, wherever they come from', async () => {
    const file = new TestFile()
    file.write(0, new Uint8Array(2 * blockBytes))
    await file.fold()
    expect([file.content.first, file.blocks.size, file.content.allocated]).toEqual([
      undefined,
      0,
      0,
    ])
  })
})

describe('allocatedBytes', () => {
  it('written over and punched, not folded yet: neither counted twice nor at all', async () => {
    const file = new TestFile()
    file.write(0, new Uint8Array(1000).fill(1))
    await file.fold()
    file.write(500, new Uint8Array(1000).fill(2))
    expect(allocatedBytes(file.content)).toBe(1500)
    file.makeHole(0, 500)
    expect(allocatedBytes(file.content)).toBe(1000)
    file.resize(0)
    expect(allocatedBytes(file.content)).toBe(0)
  })
})

describe('seekData and seekHole', () => {
  it.each(['written', 'folded'])('%s: borders at blocks', async (state) => {
    const file = new TestFile()
    file.write(2 * blockBytes + 7, Uint8Array.of(1))
    file.resize(4 * blockBytes)
    if (state === 'folded') await file.fold()
    const data = (offset: number): number =>
      seekData(file.content, file.blockFrom, file.size, offset)
    const hole = (offset: number): number =>
      seekHole(file.content, file.blockFrom, file.size, offset)
    expect([data(0), data(2 * blockBytes + 1), data(3 * blockBytes - 1)]).toEqual([
      2 * blockBytes,
      2 * blockBytes + 1,
      3 * blockBytes - 1,
    ])
    expect([hole(0), hole(1), hole(2 * blockBytes), hole(3 * blockBytes + 9)]).toEqual([
      0,
      1,
      3 * blockBytes,
      3 * blockBytes + 9,
    ])
    expect(() => data(3 * blockBytes)).toThrow('ENXIO')
    expect(() => hole(4 * blockBytes)).toThrow('ENXIO')
  })

  it('the last block is shorter than a block: the hole begins where the file ends', () => {
    const file = new TestFile()
    file.write(0, Uint8Array.of(1, 2, 3))
    expect(seekHole(file.content, file.blockFrom, file.size, 1)).toBe(3)
  })

  it('a hole as wide as the largest file is passed in one step', async () => {
    const file = new TestFile()
    file.write(0, Uint8Array.of(1))
    await file.fold()
    const extents = [...extentsOf(file.content, file.blockFrom, 0, fileBytesMax)]
    expect(extents.map(({ offset, length }) => [offset, length])).toEqual([
      [0, 1],
      [1, blockBytes - 1],
      [blockBytes, fileBytesMax - blockBytes],
    ])
  })
})
