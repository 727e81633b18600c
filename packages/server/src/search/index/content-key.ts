import type { Inode, View } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { contentHash } from '../texts/content-hash.ts'
import { keyBytes } from './segment.ts'

/** Larger files are scanned. */
const indexedBytesMax = 16 << 20

/** The key of files that have no signature. */
export const noKey: Uint8Array = new Uint8Array(keyBytes)

/**
 * Names what a file holds, in the index. Throws NodeMiss.
 */
export function contentKey(view: View, ino: Ino, inode: Inode): Uint8Array {
  if (inode.size > indexedBytesMax || inode.content!.extents.length > 0) return noKey
  return keyOf(contentHash(view, ino, inode))
}

function keyOf(hash: string): Uint8Array {
  const key = new Uint8Array(keyBytes)
  for (let at = 0; at < keyBytes; at++) key[at] = hash.charCodeAt(at)
  return key
}

export function isNoKey(keys: Uint8Array, at: number): boolean {
  return keys.subarray(at * keyBytes, (at + 1) * keyBytes).every((byte) => byte === 0)
}
