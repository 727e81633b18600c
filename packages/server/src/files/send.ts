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
  for (const extent of extents.flatMap(splitHole)) {
    group.push(extent)
    length += extent.length
    if (length < pieceBytes) continue
    yield await assemble(group, blobs)
    group = []
    length = 0
  }
  if (group.length > 0) yield await assemble(group, blobs)
}

/** A hole may be a petabyte wide; it is sent in pieces like everything else. */
function splitHole(extent: Extent): Extent[] {
  if (extent.length <= pieceBytes || extent.source) return [extent]
  const pieces: Extent[] = []
  for (let at = 0; at < extent.length; at += pieceBytes)
    pieces.push({
      offset: extent.offset + at,
      length: Math.min(pieceBytes, extent.length - at),
      source: undefined,
    })
  return pieces
}
