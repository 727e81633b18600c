import { allocatedBytes, encodeInode, Extents, type Inode, type View } from '@cairn/core'
import { FsError, type Ino, type Writer } from '@cairn/protocol'

export function getInode(view: View, ino: Ino): Inode {
  const inode = view.inode(ino)
  if (!inode) throw new FsError('ESTALE')
  return inode
}

/** An inode, how many bytes it takes, and its names if it has several: one that has one says it itself. */
export function writeInode(writer: Writer, view: View, ino: Ino): void {
  const inode = getInode(view, ino)
  writer.bytes(encodeInode(withoutReferences(inode)))
  writer.varint(inode.content ? allocatedBytes(inode.content) : 0)
  const links = inode.kind !== 'directory' && inode.nlink > 1 ? view.links(ino) : []
  writer.varint(links.length)
  for (const { parent, name } of links) writer.varint(parent).byteString(name)
}

/** Attributes without references to content: holding a hash would be no right to read it anyway. */
function withoutReferences(inode: Inode): Inode {
  if (!inode.content) return inode
  const content = { first: undefined, allocated: 0, foldedEnd: inode.size, extents: Extents.none }
  return { ...inode, content }
}
