import type { Pacer } from '../ports/pacer.ts'

/** As `Array.map`, but others have their turn in between. */
export async function mapPaced<T, R>(
  pacer: Pacer,
  items: Iterable<T>,
  map: (item: T) => R,
): Promise<R[]> {
  const mapped: R[] = []
  for (const item of items) {
    if (pacer.isDue()) await pacer.rest()
    mapped.push(map(item))
  }
  return mapped
}
