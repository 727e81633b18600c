import type { CodeRanges } from './ranges.ts'

/** Bytes one after the other: the first and the last that may stand there. */
export type ByteSequence = readonly (readonly [first: number, last: number])[]

const lastOfLength = [0x7f, 0x7ff, 0xffff, 0x10ffff] as const

/** A set of code points as sequences of bytes of UTF-8, in order. Surrogates have none. */
export function* utf8Sequences(set: CodeRanges): Generator<ByteSequence> {
  for (let at = 0; at < set.length; at += 2) yield* ofRange(set[at]!, set[at + 1]!)
}

function* ofRange(first: number, last: number): Generator<ByteSequence> {
  if (first > last) return
  if (first <= 0xdfff && last >= 0xd800) {
    yield* ofRange(first, 0xd7ff)
    yield* ofRange(0xe000, last)
    return
  }
  for (const end of lastOfLength)
    if (first <= end && last > end) {
      yield* ofRange(first, end)
      yield* ofRange(end + 1, last)
      return
    }
  yield* ofSameLength(first, last)
}

/** Cuts until all bytes but the leading equal ones and one more cover everything that may stand there. */
function* ofSameLength(first: number, last: number): Generator<ByteSequence> {
  for (let bits = 6; bits < 24; bits += 6) {
    const mask = (1 << bits) - 1
    if (first >> bits === last >> bits) continue
    if ((first & mask) !== 0 && first > 0x7f) {
      yield* ofSameLength(first, first | mask)
      yield* ofSameLength((first | mask) + 1, last)
      return
    }
    if ((last & mask) !== mask && last > 0x7f) {
      yield* ofSameLength(first, (last & ~mask) - 1)
      yield* ofSameLength(last & ~mask, last)
      return
    }
  }
  const [low, high] = [encode(first), encode(last)]
  yield low.map((byte, index) => [byte, high[index]!] as const)
}

export function encode(code: number): readonly number[] {
  if (code < 0x80) return [code]
  if (code < 0x800) return [0xc0 | (code >> 6), rest(code)]
  if (code < 0x10000) return [0xe0 | (code >> 12), rest(code >> 6), rest(code)]
  return [0xf0 | (code >> 18), rest(code >> 12), rest(code >> 6), rest(code)]
}

function rest(code: number): number {
  return 0x80 | (code & 0x3f)
}
