/** A row of numbers from 0 up to 1 that looks like chance and is the same for the same seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Bytes that look like chance, none of them zero, the same for the same salt. */
export function makeBytes(salt: number, length: number): Uint8Array {
  const random = makeRandom(salt)
  const bytes = new Uint8Array(length)
  for (let i = 0; i < length; i++) bytes[i] = 1 + Math.floor(random() * 255)
  return bytes
}
