import {
  encodeInode,
  Extents,
  foldedLength,
  type FoldedLength,
  type Inode,
  type View,
} from '@cairn/core'
import { FsError, type Ino, type Writer } from '@cairn/protocol'

export function getInode(view: View, ino: Ino): Inode {
  const inode = view.inode(ino)
  if (!inode) throw new FsError('ESTALE')
  return inode
}

/** Whether something in an answer is known only after a fold: how many bytes a file takes. */
export interface Doubts {
  some: boolean
}

/** An inode, how many bytes it takes, and its names if it has several: one that has one says it itself. */
export function writeInode(writer: Writer, view: View, ino: Ino, doubts: Doubts): void {
  const inode = getInode(view, ino)
  const { bytes, isExact } = foldedBytes(view, ino, inode)
  doubts.some ||= !isExact
  writer.bytes(encodeInode(withoutReferences(inode)))
  writer.varint(bytes)
  const links = inode.kind !== 'directory' && inode.nlink > 1 ? view.links(ino) : []
  writer.varint(links.length)
  for (const { parent, name } of links) writer.varint(parent).byteString(name)
}

function foldedBytes(view: View, ino: Ino, { content, size }: Inode): FoldedLength {
  if (!content) return { bytes: 0, isExact: true }
  return foldedLength(content, size, (index) => view.blockFrom(ino, index))
}

/** Attributes without references to content: holding a hash would be no right to read it anyway. */
function withoutReferences(inode: Inode): Inode {
  if (!inode.content) return inode
  const content = { first: undefined, allocated: 0, foldedEnd: inode.size, extents: Extents.none }
  return { ...inode, content }
}
