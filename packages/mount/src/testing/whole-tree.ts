import type { Inode, Time } from '@cairn/core'
import { rootIno } from '@cairn/protocol'
import { Image } from '../image/image.ts'

const never: Time = { sec: 0, nsec: 0 }

const emptyDirectory: Inode = {
  kind: 'directory',
  mode: 0o755,
  uid: 0,
  gid: 0,
  size: 0,
  nlink: 2,
  rdev: 0,
  atime: never,
  mtime: never,
  ctime: never,
  home: undefined,
  target: undefined,
  xattrs: undefined,
  content: undefined,
}

/** The tree of a new workspace, all of which is known: so it stays when the log is followed. */
export function wholeTree(): Image {
  const image = new Image()
  image.install({ ino: rootIno, inode: emptyDirectory, links: [] })
  image.installDirectory(rootIno, [])
  return image
}
