/** JSON has times in nanoseconds as text. */
export function dateOf(ns: string): Date {
  return new Date(Number(BigInt(ns) / 1_000_000n))
}
