import type { Ino } from '@cairn/protocol'
import type { Inode } from './inode.ts'
import { contentExtents } from './rules/data.ts'
import type { View } from './view.ts'
import type { Nodes } from '../tree/nodes.ts'
import { assemble } from '../content/assemble.ts'
import type { Blobs } from '../content/blobs.ts'

/** A file's bytes from `offset` to `end` or to where it ends. */
export async function readFile(
  nodes: Nodes,
  blobs: Blobs,
  view: View,
  ino: Ino,
  file: Inode,
  offset = 0,
  end: number = file.size,
): Promise<Uint8Array> {
  if (offset >= Math.min(end, file.size)) return new Uint8Array()
  return assemble(await nodes.read(() => [...contentExtents(view, ino, file, offset, end)]), blobs)
}
