import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type Extent, Extents } from './extents.ts'

const bytes = fc.uint8Array({ minLength: 1, maxLength: 20 })
const offset = fc.nat(60)

const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('write'), offset, bytes }),
    fc.record({ type: fc.constant('append'), bytes }),
    fc.record({ type: fc.constant('hole'), offset, length: fc.integer({ min: 1, max: 20 }) }),
    fc.record({ type: fc.constant('truncate'), size: fc.nat(80) }),
  ),
  { maxLength: 30 },
)
type Step = typeof steps extends fc.Arbitrary<(infer T)[]> ? T : never

/**
 * The content of each offset: a byte, 0 where a hole was made, nothing where nothing was written.
 */
type Plain = readonly (number | undefined)[]

function overwrite(plain: Plain, at: number, values: readonly number[]): Plain {
  const next = [...plain]
  values.forEach((value, index) => (next[at + index] = value))
  return Array.from(next)
}

function take(step: Step, extents: Extents, plain: Plain): [Extents, Plain] {
  switch (step.type) {
    case 'truncate':
      return [extents.truncate(step.size), plain.slice(0, step.size)]
    case 'hole': {
      const { offset: at, length } = step
      const hole = { offset: at, length, source: undefined }
      return [extents.write(hole), overwrite(plain, at, Array<number>(length).fill(0))]
    }
    case 'append':
    case 'write': {
      const at = step.type === 'write' ? step.offset : plain.length
      const source = { type: 'bytes', bytes: step.bytes } as const
      const written = extents.write({ offset: at, length: step.bytes.length, source })
      return [written, overwrite(plain, at, [...step.bytes])]
    }
  }
}

function listOf(extents: Extents): Extent[] {
  return Array.from({ length: extents.length }, (_, index) => extents.at(index))
}

function render(extents: Extents, length: number): Plain {
  const plain = Array<number | undefined>(length).fill(undefined)
  let end = 0
  for (const { offset: start, length: count, source } of listOf(extents)) {
    expect(start).toBeGreaterThanOrEqual(end)
    expect(count).toBeGreaterThan(0)
    end = start + count
    for (let i = 0; i < count; i++)
      plain[start + i] = source?.type === 'bytes' ? source.bytes[i] : 0
  }
  return plain
}

describe('Extents', () => {
  it('any writes, holes and cuts: what a plain array holds, and no older list changes', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const states: [Extents, Plain][] = [[Extents.none, []]]
        for (const step of list) states.push(take(step, ...states.at(-1)!))
        // All of them at the end: lists share their arrays, and a later one must not show in an earlier one.
        for (const [extents, plain] of states)
          expect(render(extents, plain.length)).toEqual([...plain])
      }),
    )
  })

  it('firstAfter: the first extent that ends behind the offset', () => {
    fc.assert(
      fc.property(steps, offset, (list, at) => {
        let state: [Extents, Plain] = [Extents.none, []]
        for (const step of list) state = take(step, ...state)
        const [extents] = state
        const ends = listOf(extents).map((extent) => extent.offset + extent.length)
        expect(extents.firstAfter(at)).toBe(ends.filter((end) => end <= at).length)
      }),
    )
  })

  const at = (start: number): Extent => ({ offset: start, length: 5, source: undefined })

  it('since an older list that it was appended to: only what came later', () => {
    const older = Extents.none.write(at(0)).write(at(10))
    expect(listOf(older.write(at(20)).since(older)!)).toEqual([at(20)])
    expect(older.since(older)).toBe(Extents.none)
  })

  it('since an older list that was written over or cut: unknown', () => {
    const older = Extents.none.write(at(0)).write(at(10))
    expect(older.write(at(3)).since(older)).toBeUndefined()
    expect(older.truncate(12).since(older)).toBeUndefined()
    expect(older.truncate(7).since(older)).toBeUndefined()
  })

  it('two appended to the same list: neither sees the other', () => {
    const older = Extents.none.write(at(0))
    const one = older.write(at(10))
    const two = older.write(at(20))
    expect([listOf(one), listOf(two), listOf(older)]).toEqual([
      [at(0), at(10)],
      [at(0), at(20)],
      [at(0)],
    ])
  })

  it('a blob cut in the middle: the range of the blob moves along', () => {
    const blob = { type: 'blob', id: 'x'.repeat(32) as never, blobLength: 100, start: 40 } as const
    const extents = Extents.none.write({ offset: 0, length: 50, source: blob }).write(at(10))
    expect(listOf(extents)).toEqual([
      { offset: 0, length: 10, source: blob },
      at(10),
      { offset: 15, length: 35, source: { ...blob, start: 55 } },
    ])
  })
})
