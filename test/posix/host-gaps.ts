import { statfs } from 'node:fs/promises'
import { outcome } from './observe.ts'
import type { Gaps, SubjectSetup } from './suite.ts'

const NO_LINK_COUNTS = 'btrfs counts one link for every directory'
const NO_ZERO_RANGE = 'tmpfs has no ZERO_RANGE'

/**
 * Where other file systems of the kernel legitimately answer otherwise than ext4, by their magic
 * number.
 */
const gapsByMagic: ReadonlyMap<number, Gaps> = new Map([
  [
    0x58465342,
    {
      'symlink › target of 4095 bytes: kept': 'xfs keeps at most 1023',
      'rename › directory onto one that is not empty: ENOTEMPTY':
        'xfs says EEXIST, as POSIX allows',
      'exchange › ctime of both moves, mtime of neither': 'xfs moves the directories only',
    },
  ],
  [
    0x9123683e,
    {
      'sparse › SEEK_DATA and SEEK_HOLE at a negative offset: ENXIO, not EINVAL':
        'btrfs takes it for 0',
      'mkdir › new directory: empty, two links, owned by who made it': NO_LINK_COUNTS,
      'mkdir › inside a directory: it gains a link': NO_LINK_COUNTS,
      'mkdir › grandchildren: the grandparent gains no link': NO_LINK_COUNTS,
      'mkdir › files inside: the directory gains no link': NO_LINK_COUNTS,
      'rmdir › the parent loses a link': NO_LINK_COUNTS,
      'rename › directory from one directory to another: the link moves from parent to parent':
        NO_LINK_COUNTS,
      'rename › directory onto an empty one elsewhere: the new parent gains no link':
        NO_LINK_COUNTS,
      'rename › directory onto an empty one beside it: the parent loses a link': NO_LINK_COUNTS,
      'exchange › directory and file of two parents: the link goes with the directory':
        NO_LINK_COUNTS,
      'exchange › two directories of two parents: links stay, dot-dot changes': NO_LINK_COUNTS,
    },
  ],
  [
    0x01021994,
    {
      'fallocate › ZERO_RANGE inside: zeros there, the rest stays': NO_ZERO_RANGE,
      'fallocate › ZERO_RANGE over the end: the file grows': NO_ZERO_RANGE,
      'fallocate › ZERO_RANGE over the end with KEEP_SIZE: zeros up to the end, the size stays':
        NO_ZERO_RANGE,
      'fallocate › ZERO_RANGE: mtime and ctime move': NO_ZERO_RANGE,
    },
  ],
])

/** What the file system under `directory` cannot answer. */
export async function findHostGaps(directory: string, setup: SubjectSetup): Promise<Gaps> {
  const { type } = await statfs(directory)
  const { subject, dispose } = await setup()
  const xattrs = await outcome(() => subject.setxattr('.', 'user.probe', new Uint8Array(1)))
  await dispose()
  return {
    ...gapsByMagic.get(type),
    ...(xattrs === 'EOPNOTSUPP' ? { xattr: `no user xattrs in ${directory}` } : {}),
  }
}
