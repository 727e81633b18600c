import { blockBytes } from '@cairn/core'
import { FsError, type Ino, Reader, type SessionRequest } from '@cairn/protocol'
import type { Range, Ranges } from '../data/ranges.ts'

const seekData = 3
export const seekHole = 4

/**
 * SEEK_DATA and SEEK_HOLE, by whole blocks as the server has them: finer borders would move when the file is folded.
 * What is at the server counts as data.
 */
export function seek(ranges: Ranges, size: number, offset: number, whence: number): number {
  if (offset < 0 || offset >= size) throw new FsError('ENXIO')
  const parts = ranges.between(startOf(offset), size)
  return whence === seekData ? firstData(parts, offset) : firstHole(parts, size, offset)
}

function firstData(parts: Iterable<Range>, offset: number): number {
  for (const { offset: start, source } of parts)
    if (source.type !== 'zeros') return Math.max(offset, startOf(start))
  throw new FsError('ENXIO')
}

function firstHole(parts: Iterable<Range>, size: number, offset: number): number {
  let dataEnd = startOf(offset)
  for (const { offset: start, length, source } of parts) {
    if (startOf(start) > dataEnd) break
    if (source.type !== 'zeros') dataEnd = startOf(start + length - 1) + blockBytes
  }
  return Math.min(size, Math.max(offset, dataEnd))
}

type SeekQuestion = Omit<Extract<SessionRequest, { type: 'seek' }>, 'id'>

/** The same, of what only the server knows. */
export function seekAtServer(
  ask: (question: SeekQuestion) => Promise<Uint8Array>,
): (ino: Ino, offset: number, hole: boolean) => Promise<number> {
  return async (ino, offset, hole) => {
    const answer = await ask({ type: 'seek', ino, offset, hole: hole ? 1 : 0 })
    return new Reader(answer, 'seek answer').varint()
  }
}

function startOf(offset: number): number {
  return offset - (offset % blockBytes)
}
