import {
  joinNames,
  pathOf,
  readFile,
  resolvePath,
  superuser,
  TreeView,
  type View,
} from '@cairn/core'
import { allows, type Ino, isFsError } from '@cairn/protocol'
import { bytesOfText, checkPath } from '../../http/raw-path.ts'
import type { SearchTarget } from '../../search/search-target.ts'
import { refused } from '../statement.ts'
import type { DataFile, DataFileName } from './data-file-name.ts'

const megabyte = 1 << 20
/** One takes some ten times as much memory while it is read. */
const fileBytesMax = 32 * megabyte
const filesBytesMax = 64 * megabyte

/** What the files hold at the point that is asked, for a caller who may read them. */
export async function readDataFiles(
  tree: SearchTarget,
  names: readonly DataFileName[],
): Promise<readonly DataFile[]> {
  const files: DataFile[] = []
  let left = filesBytesMax
  for (const name of names) {
    const bytes = await readOne(tree, name)
    left -= bytes.length
    if (left < 0)
      throw refused(
        `the files that it reads as tables have more than ${filesBytesMax / megabyte} MiB together`,
        'Read them in several statements.',
      )
    files.push({ ...name, bytes })
  }
  return files
}

async function readOne(
  { nodes, blobs, snapshot, view, grant }: SearchTarget,
  { path }: DataFileName,
): Promise<Uint8Array> {
  const found = await nodes.read(() => {
    const ino = findFile(view, path)
    const names = ino === undefined ? undefined : pathOf(view, ino)
    // As if it were not there: who may not read it learns nothing of it.
    if (ino === undefined || !names || (grant && !allows(grant, 'read', joinNames(names))))
      return undefined
    const inode = view.inode(ino)
    return inode?.kind === 'file' ? { ino, inode } : undefined
  })
  if (!found)
    throw refused(
      `no such file: ${path}`,
      "Give a file's path in the workspace, such as /data/a.csv.",
    )
  if (found.inode.size > fileBytesMax)
    throw refused(
      `${path} has more than ${fileBytesMax / megabyte} MiB`,
      'Split it, or read it with a program in a mount.',
    )
  return readFile(nodes, blobs, new TreeView(nodes, snapshot), found.ino, found.inode)
}

function findFile(view: View, path: string): Ino | undefined {
  try {
    const found = resolvePath(view, checkPath(bytesOfText(path)), { who: superuser, follow: true })
    return found.dentry?.ino
  } catch (error) {
    if (isFsError(error)) return undefined
    throw error
  }
}
