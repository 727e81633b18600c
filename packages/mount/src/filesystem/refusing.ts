import { FsError } from '@cairn/protocol'
import type { FuseFileSystem } from '../fuse/file-system.ts'
import { isStatusNode, isStatusName } from './status-directory.ts'

const rootNode = 1

/**
 * The same file system once the server has taken access away: `.cairn` can be read, and everything else is EACCES, also
 * what is known here. It takes the place of the other one, so that requests cost nothing more while access lasts.
 */
export function refusing(fs: FuseFileSystem): FuseFileSystem {
  const deny = (): never => {
    throw new FsError('EACCES')
  }
  const denied = Object.fromEntries(Object.keys(fs).map((operation) => [operation, deny]))
  return {
    ...(denied as unknown as FuseFileSystem),
    lookup: (parent, name, caller) =>
      isStatusNode(parent) || isStatusName(parent, name) ? fs.lookup(parent, name, caller) : deny(),
    // Answers for the root, on the way to `.cairn`.
    getattr: (nodeid) =>
      isStatusNode(nodeid) || nodeid === rootNode ? fs.getattr(nodeid) : deny(),
    read: (nodeid, ...rest) => (isStatusNode(nodeid) ? fs.read(nodeid, ...rest) : deny()),
    readdir: (nodeid, ...rest) => (isStatusNode(nodeid) ? fs.readdir(nodeid, ...rest) : deny()),
    lseek: (nodeid, ...rest) => (isStatusNode(nodeid) ? fs.lseek(nodeid, ...rest) : deny()),
    // Programs close their files, and the kernel lets go of what it knew.
    ...(fs.flush && { flush: () => undefined }),
    ...(fs.release && { release: fs.release.bind(fs) }),
    ...(fs.setlk && {
      setlk: (nodeid, lock, ...rest) =>
        lock.type === 'none' ? fs.setlk!(nodeid, lock, ...rest) : deny(),
    }),
    forget: fs.forget.bind(fs),
    dots: fs.dots.bind(fs),
    statfs: fs.statfs.bind(fs),
    destroy: fs.destroy.bind(fs),
  }
}
