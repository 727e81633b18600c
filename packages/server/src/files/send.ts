import {
  type Blobs,
  contentExtents,
  type Extent,
  fetchBlobs,
  type Inode,
  joinExtents,
  type View,
} from '@cairn/core'
import type { Ino } from '@cairn/protocol'

/** How much is fetched at a time: several blocks in one request to the store. */
const pieceBytes = 1 << 20
/** A file that was written in small parts is put together: sending each of them costs more than copying it. */
const extentsApartMax = 16

/** Where a range of a file comes from, decided at once: what changes later does not mix into what is sent. */
export function planRead(
  view: View,
  ino: Ino,
  file: Inode,
  start: number,
  end: number,
): readonly Extent[] {
  return start < end ? [...contentExtents(view, ino, file, start, end)] : []
}

/** Sends the planned extents as bytes, each as it was fetched: putting them together would copy everything once more. */
export async function* sendExtents(
  extents: readonly Extent[],
  blobs: Blobs,
): AsyncGenerator<Uint8Array> {
  for (const group of groupsOf(extents)) yield* bytesOf(group, await fetchBlobs(group, blobs))
}

/** The same for a reader of the whole: the next group is fetched while one is sent. */
export async function* streamExtents(
  extents: readonly Extent[],
  blobs: Blobs,
): AsyncGenerator<Uint8Array> {
  let ahead: Fetching | undefined
  for (const group of groupsOf(extents)) {
    const next = beginFetch(group, blobs)
    if (ahead) yield* bytesOf(ahead.group, await ahead.fetched)
    ahead = next
  }
  if (ahead) yield* bytesOf(ahead.group, await ahead.fetched)
}

interface Fetching {
  readonly group: readonly Extent[]
  readonly fetched: ReturnType<typeof fetchBlobs>
}

function beginFetch(group: readonly Extent[], blobs: Blobs): Fetching {
  const fetched = fetchBlobs(group, blobs)
  // It may fail while the one before is sent; it is asked later, or never, when the reader goes.
  fetched.catch(() => undefined)
  return { group, fetched }
}

function* bytesOf(
  group: readonly Extent[],
  fetched: Awaited<ReturnType<typeof fetchBlobs>>,
): Generator<Uint8Array> {
  if (group.length > extentsApartMax) return yield joinExtents(group, fetched)
  for (const { length, source } of group)
    if (!source) yield new Uint8Array(length)
    else if (source.type === 'bytes') yield source.bytes
    else yield fetched.get(source.id)!.subarray(source.start, source.start + length)
}

function* groupsOf(extents: readonly Extent[]): Generator<readonly Extent[]> {
  let group: Extent[] = []
  let length = 0
  for (const extent of inPieces(extents)) {
    group.push(extent)
    length += extent.length
    if (length < pieceBytes) continue
    yield group
    group = []
    length = 0
  }
  if (group.length > 0) yield group
}

/**
 * Cuts holes into pieces, one at a time. A file can be one hole of 16 TiB: a list of its pieces would be millions of
 * objects, and would stop the server before the first byte is sent.
 */
function* inPieces(extents: readonly Extent[]): Generator<Extent> {
  for (const extent of extents) {
    if (extent.source || extent.length <= pieceBytes) {
      yield extent
      continue
    }
    for (let at = 0; at < extent.length; at += pieceBytes) {
      const length = Math.min(pieceBytes, extent.length - at)
      yield { offset: extent.offset + at, length, source: undefined }
    }
  }
}
