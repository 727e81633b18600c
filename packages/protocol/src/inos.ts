import type { Ino } from './ids.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A message of 5 MiB could hold 5 million, and all others would wait while they are read. */
const inosMax = 100_000

/** Reads how many inode numbers follow. */
export function countInos(reader: Reader): number {
  const count = reader.count()
  if (count > inosMax) throw reader.malformed(`${count} inodes, at most ${inosMax}`)
  return count
}

/** A list of inode numbers as bytes: how many, then each. */
export function encodeInos(inos: readonly Ino[]): Uint8Array {
  const writer = new Writer(64).varint(inos.length)
  for (const ino of inos) writer.varint(ino)
  return writer.finish()
}

export function decodeInos(bytes: Uint8Array): readonly Ino[] {
  const reader = new Reader(bytes, 'list of inodes')
  const inos: Ino[] = []
  for (let left = countInos(reader); left > 0; left--) inos.push(reader.positive() as Ino)
  reader.end()
  return inos
}
