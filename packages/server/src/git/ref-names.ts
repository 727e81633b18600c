const bytesMax = 200

/**
 * A name as one part of a ref. What git does not take becomes dashes: a name that it refuses, or takes for a directory
 * where another ref is, would end every export.
 */
export function refName(name: string): string {
  const plain = name.replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/\.{2,}/g, '.')
  const short = Buffer.from(plain)
    .subarray(0, bytesMax)
    .toString()
    .replace(/\uFFFD+$/, '')
  return short.replace(/^[.-]+|(?:\.(?:lock)?)+$/g, '') || 'unnamed'
}

/** Whether a layer may have it that a push makes. */
export function isPushable(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name) && refName(name) === name
}
