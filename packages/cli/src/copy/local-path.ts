import type { Stats } from 'node:fs'
import type { ByteString } from '@cairn/protocol'
import type { FileKind } from '@cairn/sdk'

/** Local names are bytes as well; joined as bytes, every one of them can be opened. */
export function localPath(root: string, below: ByteString): Buffer {
  const start = Buffer.from(root)
  if (below === '') return start
  const slash = root.endsWith('/') ? '' : '/'
  return Buffer.concat([start, Buffer.from(slash), Buffer.from(below, 'latin1')])
}

/** For messages. */
export function showLocal(root: string, below: ByteString): string {
  return localPath(root, below).toString()
}

export function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  if (stats.isSymbolicLink()) return 'symlink'
  if (stats.isFIFO()) return 'fifo'
  if (stats.isSocket()) return 'socket'
  return stats.isBlockDevice() ? 'block' : 'character'
}
