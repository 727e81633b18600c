import { type ByteString, type Ino, type Name, rootIno } from '@cairn/protocol'
import type { Link } from '../filesystem/inode.ts'
import { pathOf } from '../filesystem/resolve.ts'
import type { View } from '../filesystem/view.ts'

/** Stands for a name that is not to be seen; no file can have it. */
export const hiddenName: Name = '' as Name

/** Every path an inode has now; none when it has lost its last name, or is not there. */
export function pathsOf(view: View, ino: Ino): readonly ByteString[] {
  if (ino === rootIno) return ['/']
  const inode = view.inode(ino)
  const links = inode?.home ? [inode.home] : inode && inode.nlink > 1 ? view.links(ino) : []
  return links.flatMap((link) => (link.name === hiddenName ? [] : (placeOf(view, link) ?? [])))
}

/** Where a name of a directory is, whatever it leads to. Undefined when the directory itself has no path. */
export function placeOf(view: View, { parent, name }: Link): ByteString | undefined {
  const directory = pathOf(view, parent)
  return directory && joinNames([...directory, name])
}

export function joinNames(names: readonly Name[]): ByteString {
  return `/${names.join('/')}`
}

export function pathBelow(directory: ByteString, name: ByteString): ByteString {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}

export function parentPath(path: ByteString): ByteString {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}
