/**
 * Where nodes end. The rule looks at nothing but the keys and sizes of the entries since the last end, so
 * the same entries are cut in the same places whatever their history: that is what makes roots canonical.
 *
 * The chance to end grows with the square of what lies above `bytesMin`, which keeps sizes close to 4 KiB
 * where a constant chance would scatter them exponentially. Keys chosen by an adversary can only
 * push sizes towards `bytesMin` or `bytesMax`.
 */
const bytesMin = 1536
const bytesMax = 16_384
const span = 16_384

/** What an entry counts for: its bytes plus its slot, before prefix compression (which sees neighbours). */
export function entrySize(keyLength: number, valueLength: number): number {
  return keyLength + valueLength + 4
}

/** Whether a node of `size` bytes ends with the entry of this key. Exact in doubles: below 2^53. */
export function endsNode(key: Uint8Array, level: number, size: number): boolean {
  if (size < bytesMin) return false
  if (size >= bytesMax) return true
  const above = size - bytesMin
  return (hashKey(key, level) >>> 8) * (span * span) < above * above * 0x1000000
}

/** FNV-1a with a final mix. The level is the seed, or a key that ends a leaf would end its parents too. */
function hashKey(key: Uint8Array, level: number): number {
  let hash = 0x811c9dc5 ^ Math.imul(level + 1, 0x9e3779b1)
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key[i]!, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}
