const sampleBytes = 4096
const runBytes = 256
/** How much more often than by chance two bytes of a sample are equal, in what a compressor can do nothing about. */
const chanceMax = 1.15

/**
 * Whether bytes look as if they were compressed or encrypted already, from a few places: a compressor that finds that out
 * takes longer than hashing and storing them. Text is above by a factor of ten, and base64 of four.
 */
export function looksRandom(bytes: Uint8Array): boolean {
  if (bytes.length < sampleBytes) return false
  const counts = new Uint16Array(256)
  const step = Math.floor((bytes.length - runBytes) / (sampleBytes / runBytes - 1))
  for (let start = 0, left = sampleBytes; left > 0; start += step, left -= runBytes)
    for (let at = start; at < start + runBytes; at++) counts[bytes[at]!]!++
  let pairs = 0
  for (const count of counts) pairs += count * (count - 1)
  return pairs * 256 < chanceMax * sampleBytes * (sampleBytes - 1)
}
