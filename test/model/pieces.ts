import type { Chance } from './chance.ts'
import type { SparseBytes } from './sparse-bytes.ts'

export interface Piece {
  readonly offset: number
  readonly bytes: Uint8Array
}

/** All of a file's data in pieces that do not overlap, with some of its holes written out as zeros. */
export function cutPieces(content: SparseBytes, length: number, chance: Chance): readonly Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (const range of content.ranges()) {
    const end = Math.min(range.end, length)
    const start = Math.max(at, range.start - (chance.oneIn(3) ? chance.below(1000) : 0))
    for (at = start; at < end;) {
      const stop = Math.min(end, at + 1 + chance.below(chance.choose([200, 5000, 400_000])))
      pieces.push({ offset: at, bytes: content.read(at, stop) })
      at = stop
    }
  }
  return pieces
}
