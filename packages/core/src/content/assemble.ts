import type { Hash } from '@cairn/protocol'
import type { Blobs } from './blobs.ts'
import type { Extent } from './extents.ts'

/** The bytes of a gapless row of extents. Each blob is fetched once. */
export async function assemble(extents: readonly Extent[], blobs: Blobs): Promise<Uint8Array> {
  return joinExtents(extents, await fetchBlobs(extents, blobs))
}

/** The same where the blobs are at hand. */
export function joinExtents(
  extents: readonly Extent[],
  fetched: ReadonlyMap<Hash, Uint8Array>,
): Uint8Array {
  const first = extents[0]?.offset ?? 0
  const last = extents.at(-1)
  const bytes = new Uint8Array(last ? last.offset + last.length - first : 0)
  for (const { offset, length, source } of extents) {
    if (!source) continue
    const from =
      source.type === 'bytes'
        ? source.bytes
        : fetched.get(source.id)!.subarray(source.start, source.start + length)
    bytes.set(from, offset - first)
  }
  return bytes
}

/** The blobs of these extents, each fetched once, all at the same time. */
export async function fetchBlobs(
  extents: readonly Extent[],
  blobs: Blobs,
): Promise<ReadonlyMap<Hash, Uint8Array>> {
  const ids = new Set<Hash>()
  for (const { source } of extents) if (source?.type === 'blob') ids.add(source.id)
  return new Map(await Promise.all([...ids].map(async (id) => [id, await blobs.read(id)] as const)))
}
