import type { Inode, View } from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import { contentHash } from './content-hash.ts'

/**
 * Under which a file's text is kept; undefined where its content has no name yet. With the inode: else a token's search would
 * be quicker for a content that a file out of its sight has too. Throws NodeMiss.
 */
export function textKey(workspace: string, view: View, ino: Ino, inode: Inode): string | undefined {
  if (inode.content!.extents.length > 0) return undefined
  return `${workspace} ${ino} ${contentHash(view, ino, inode)}`
}
