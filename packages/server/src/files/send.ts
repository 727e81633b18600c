import {
  assemble,
  type Blobs,
  contentExtents,
  type Extent,
  type Inode,
  type View,
} from '@cairn/core'
import type { Ino } from '@cairn/protocol'

/** How much is put together at a time. */
const pieceBytes = 1 << 20

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

/** Sends the planned extents as bytes. */
export async function* sendExtents(
  extents: readonly Extent[],
  blobs: Blobs,
): AsyncGenerator<Uint8Array> {
  let group: Extent[] = []
  let length = 0
  for (const extent of inPieces(extents)) {
    group.push(extent)
    length += extent.length
    if (length < pieceBytes) continue
    yield await assemble(group, blobs)
    group = []
    length = 0
  }
  if (group.length > 0) yield await assemble(group, blobs)
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
