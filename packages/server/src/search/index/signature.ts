/**
 * A signature tells which trigrams a content may hold: a Bloom filter over its runs of three bytes, ASCII letters in lower
 * case. It never denies a trigram that is there. Five bits for each make it wrong about one in nine of the others, which
 * a name of ten letters makes rare.
 */
const bitsPerTrigram = 5
/** Contents with more are binary, or as large as many files. They have no signature and are scanned. */
const trigramsMax = 1 << 16
/** As much as a search of text reads before it gives a file with a byte of 0 up. */
const headBytes = 64 << 10

export type Signature =
  | { readonly kind: 'bits'; readonly bits: Uint8Array }
  /** It has a byte of 0 so early that no search finds anything, unless it takes binary files for text. */
  | { readonly kind: 'binary' }
  | { readonly kind: 'unknown' }

/** Lower case for ASCII letters. */
const folded = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte,
)

/** Which trigrams the content that is looked at has: a bit for each that can be. */
const seen = new Uint8Array(1 << 21)
const found = new Uint32Array(trigramsMax + 1)

export function signatureOf(bytes: Uint8Array): Signature {
  const zero = bytes.indexOf(0)
  if (isUtf16(bytes)) return { kind: 'unknown' }
  if (zero >= 0 && zero < headBytes - 3) return { kind: 'binary' }
  const count = collect(bytes)
  if (count > trigramsMax) return { kind: 'unknown' }
  const bits = new Uint8Array(Math.max(1, Math.ceil((count * bitsPerTrigram) / 8)))
  const length = bits.length * 8
  for (let at = 0; at < count; at++) {
    const trigram = found[at]!
    const [one, other] = [place(first(trigram), length), place(second(trigram), length)]
    bits[one >> 3]! |= 1 << (one & 7)
    bits[other >> 3]! |= 1 << (other & 7)
  }
  return { kind: 'bits', bits }
}

/** Gives how many there are in `found`; more than it holds when there are too many. */
function collect(bytes: Uint8Array): number {
  let count = 0
  let trigram = 0
  for (let at = 0; at < bytes.length && count <= trigramsMax; at++) {
    trigram = ((trigram << 8) | folded[bytes[at]!]!) & 0xff_ff_ff
    if (at < 2) continue
    const [index, bit] = [trigram >> 3, 1 << (trigram & 7)]
    if (seen[index]! & bit) continue
    seen[index]! |= bit
    found[count++] = trigram
  }
  for (let at = 0; at < count; at++) seen[found[at]! >> 3] = 0
  return count
}

/** Two numbers for each trigram of a text, as `holdsAll` wants them. */
export function hashesOf(text: string): Uint32Array {
  const bytes = Buffer.from(text, 'latin1')
  const trigrams = new Set<number>()
  for (let at = 0; at + 2 < bytes.length; at++)
    trigrams.add(
      (folded[bytes[at]!]! << 16) | (folded[bytes[at + 1]!]! << 8) | folded[bytes[at + 2]!]!,
    )
  return Uint32Array.from([...trigrams].flatMap((trigram) => [first(trigram), second(trigram)]))
}

/** Whether the bits from `start` to `end` may be those of a content with all of these trigrams. */
export function holdsAll(
  bytes: Uint8Array,
  start: number,
  end: number,
  hashes: Uint32Array,
): boolean {
  const length = (end - start) * 8
  for (let at = 0; at < hashes.length; at++) {
    const bit = place(hashes[at]!, length)
    if (!(bytes[start + (bit >> 3)]! & (1 << (bit & 7)))) return false
  }
  return true
}

function place(hash: number, length: number): number {
  return Math.floor((hash * length) / 2 ** 32)
}

function first(trigram: number): number {
  const mixed = Math.imul(trigram ^ (trigram >>> 11), 0x9e3779b1)
  return Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b) >>> 0
}

function second(trigram: number): number {
  const mixed = Math.imul(trigram ^ 0x5bd1e995, 0xc2b2ae35)
  return Math.imul(mixed ^ (mixed >>> 13), 0x27d4eb2f) >>> 0
}

/** It is searched as UTF-8, which has other bytes. */
function isUtf16(bytes: Uint8Array): boolean {
  const [one, other] = bytes
  return (one === 0xff && other === 0xfe) || (one === 0xfe && other === 0xff)
}
