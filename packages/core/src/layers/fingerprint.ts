import { concatBytes } from '@cairn/protocol'
import { dentryKey } from '../filesystem/keys.ts'
import { encodeBlock, encodeInode } from '../filesystem/values.ts'
import type { Side } from './sides.ts'
import type { Version } from './version.ts'

const epoch = { sec: 0, nsec: 0 }

/**
 * Bytes that differ when a thing's content, attributes or names do. They exclude its times and a
 * directory's entry count: a decision about a directory stands when a file is written into it.
 */
export async function fingerprint(side: Side, version: Version): Promise<Uint8Array> {
  const { inode, names } = version
  const counts = inode.kind === 'directory' ? { size: 0, nlink: 2 } : {}
  const parts = [encodeInode({ ...inode, ...counts, atime: epoch, mtime: epoch, ctime: epoch })]
  for (const { parent, name } of names) parts.push(dentryKey(parent, name))
  for (const [index, block] of await side.blocks(version))
    parts.push(new Uint8Array(new Uint32Array([index]).buffer), encodeBlock(block))
  return concatBytes(parts)
}
