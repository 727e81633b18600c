import type { Ino } from './ids.ts'
import { Reader } from './reader.ts'
import { Writer } from './writer.ts'

/** A list of inode numbers as bytes: how many, then each. */
export function encodeInos(inos: readonly Ino[]): Uint8Array {
  const writer = new Writer(64).varint(inos.length)
  for (const ino of inos) writer.varint(ino)
  return writer.finish()
}

export function decodeInos(bytes: Uint8Array): readonly Ino[] {
  const reader = new Reader(bytes, 'list of inodes')
  const inos: Ino[] = []
  for (let left = reader.count(); left > 0; left--) inos.push(reader.positive() as Ino)
  reader.end()
  return inos
}
