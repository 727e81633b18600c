import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Ranges, type RangeSource } from './ranges.ts'

const size = 64

/** One letter a byte. Where nothing was said, it is as the server has it up to where that ends, and zero behind it. */
class Plain {
  readonly #letters: (string | undefined)[] = Array.from({ length: 2 * size })
  #serverEnd: number

  constructor(serverEnd: number) {
    this.#serverEnd = serverEnd
  }

  get letters(): string[] {
    return this.#letters.map((letter, at) => letter ?? (at < this.#serverEnd ? 's' : '0'))
  }

  fill(offset: number, length: number, letter: (i: number) => string): void {
    for (let i = 0; i < length; i++) this.#letters[offset + i] = letter(i)
  }

  forget(offset: number, length: number): void {
    this.#letters.fill(undefined, offset, offset + length)
    this.#serverEnd = Math.max(this.#serverEnd, offset + length)
  }

  truncate(end: number): void {
    this.#letters.fill(undefined, end)
    this.#serverEnd = Math.min(this.#serverEnd, end)
  }
}

function lettersOf(ranges: Ranges): string[] {
  const letters: string[] = []
  for (const { offset, length, source } of ranges.between(0, 2 * size)) {
    expect(offset).toBe(letters.length)
    expect(length).toBeGreaterThan(0)
    for (let i = 0; i < length; i++) letters.push(letterOf(source, i))
  }
  return letters
}

function letterOf(source: RangeSource, i: number): string {
  if (source.type === 'zeros') return '0'
  return source.type === 'server' ? 's' : `${source.segment}:${source.position + i}`
}

const range = { offset: fc.nat(size - 1), length: fc.nat(size) }
const step = fc.oneof(
  fc.record({ type: fc.constant('put' as const), ...range, position: fc.nat(1000) }),
  fc.record({ type: fc.constant('zeros' as const), ...range }),
  fc.record({ type: fc.constant('copy' as const), ...range }),
  fc.record({ type: fc.constant('forget' as const), ...range }),
  fc.record({ type: fc.constant('truncate' as const), offset: fc.nat(size) }),
)

describe('ranges of a file', () => {
  it('say of each byte what the last change made it', () => {
    fc.assert(
      fc.property(fc.nat(size), fc.array(step, { maxLength: 40 }), (serverEnd, steps) => {
        const ranges = new Ranges(serverEnd)
        const plain = new Plain(serverEnd)
        for (const change of steps) play(ranges, plain, change)
        expect(lettersOf(ranges)).toEqual(plain.letters)
      }),
      { seed: 1, numRuns: 500 },
    )
  })

  it('a file written in order is one range', () => {
    const ranges = new Ranges(0)
    for (let at = 0; at < 1000; at += 10)
      ranges.put(at, 10, { type: 'local', segment: 1, position: 500 + at })
    expect([...ranges.between(0, 1000)]).toHaveLength(1)
  })

  it('what is only at the server makes earlier answers worthless', () => {
    const ranges = new Ranges(100)
    ranges.put(0, 10, { type: 'local', segment: 1, position: 0 })
    const { version } = ranges
    ranges.put(20, 10, { type: 'server', after: 3 })
    expect(ranges.version).toBeGreaterThan(version)
  })
})

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

function play(ranges: Ranges, plain: Plain, change: Step): void {
  const { type, offset } = change
  switch (type) {
    case 'truncate':
      ranges.truncate(offset)
      return plain.truncate(offset)
    case 'put': {
      const { length, position } = change
      ranges.put(offset, length, { type: 'local', segment: 1, position })
      return plain.fill(offset, length, (i) => `1:${position + i}`)
    }
    case 'zeros':
      ranges.putZeros(offset, change.length)
      return plain.fill(offset, change.length, () => '0')
    case 'copy':
      ranges.put(offset, change.length, { type: 'server', after: 1 })
      return plain.fill(offset, change.length, () => 's')
    case 'forget':
      ranges.forget(offset, change.length)
      return plain.forget(offset, change.length)
  }
}
