import { S_IFBLK, S_IFCHR, S_IFDIR, S_IFIFO, S_IFLNK, S_IFREG, S_IFSOCK } from '../constants.ts'
import { ANN, content, create, directoryFor, moved, outcome, permissions } from '../observe.ts'
import type { Question } from '../question.ts'

export const mknodQuestions: readonly Question[] = [
  {
    fact: 'mknod › FIFO and socket: of that kind, empty, one link, no device number',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o644, { major: 5, minor: 6 })
      await fs.mknod('s', S_IFSOCK | 0o644)
      const fifo = await fs.stat('p')
      return [fifo.kind, fifo.size, fifo.nlink, fifo.rdev, (await fs.stat('s')).kind]
    },
    expect: ['fifo', 0, 1, { major: 0, minor: 0 }, 'socket'],
  },
  {
    fact: 'mknod › regular file: with the type given or without it, an empty file',
    ask: async (fs) => {
      await fs.mknod('f', S_IFREG | 0o644)
      await fs.mknod('g', 0o644)
      return [(await fs.stat('f')).kind, (await fs.stat('g')).kind, await content(fs, 'g')]
    },
    expect: ['file', 'file', ''],
  },
  {
    fact: 'mknod › mode: the bits of the umask are taken out, set-id and sticky bits kept',
    ask: async (fs) => {
      await fs.umask(0o027)
      await fs.mknod('p', S_IFIFO | 0o7777)
      return permissions(fs, 'p')
    },
    expect: '7750',
  },
  {
    fact: 'mknod › character device: keeps major and minor number',
    root: true,
    ask: async (fs) => {
      await fs.mknod('c', S_IFCHR | 0o600, { major: 10, minor: 200 })
      const { kind, rdev } = await fs.stat('c')
      return { kind, rdev }
    },
    expect: { kind: 'character device', rdev: { major: 10, minor: 200 } },
  },
  {
    fact: 'mknod › block device: keeps numbers above 255',
    root: true,
    ask: async (fs) => {
      await fs.mknod('b', S_IFBLK | 0o600, { major: 259, minor: 200_000 })
      const { kind, rdev } = await fs.stat('b')
      return { kind, rdev }
    },
    expect: { kind: 'block device', rdev: { major: 259, minor: 200_000 } },
  },
  {
    fact: 'mknod › device by an ordinary user: EPERM; FIFO, socket and file: allowed',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd')
      const ann = fs.as(ANN)
      return [
        await outcome(() => ann.mknod('d/c', S_IFCHR | 0o600, { major: 1, minor: 3 })),
        await outcome(() => ann.mknod('d/b', S_IFBLK | 0o600, { major: 7, minor: 0 })),
        await outcome(() => ann.mknod('d/p', S_IFIFO | 0o600)),
        await outcome(() => ann.mknod('d/s', S_IFSOCK | 0o600)),
        await outcome(() => ann.mknod('d/f', S_IFREG | 0o600)),
      ]
    },
    expect: ['EPERM', 'EPERM', 'ok', 'ok', 'ok'],
  },
  {
    fact: 'mknod › directory: EPERM; symlink or an unknown type: EINVAL',
    ask: async (fs) => [
      await outcome(() => fs.mknod('d', S_IFDIR | 0o755)),
      await outcome(() => fs.mknod('s', S_IFLNK | 0o777)),
      await outcome(() => fs.mknod('x', 0o030000 | 0o644)),
    ],
    expect: ['EPERM', 'EINVAL', 'EINVAL'],
  },
  {
    fact: 'mknod › existing name, dangling symlink: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('missing', 's')
      return [
        await outcome(() => fs.mknod('f', S_IFIFO | 0o600)),
        await outcome(() => fs.mknod('s', S_IFIFO | 0o600)),
      ]
    },
    expect: ['EEXIST', 'EEXIST'],
  },
  {
    fact: 'mknod › new name with a slash behind it: ENOENT',
    ask: (fs) => outcome(() => fs.mknod('p/', S_IFIFO | 0o600)),
    expect: 'ENOENT',
  },
  {
    fact: 'mknod › mtime and ctime of the directory move',
    ask: async (fs) => {
      await fs.mkdir('d')
      return moved(fs, 'd', () => fs.mknod('d/p', S_IFIFO | 0o600))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'mknod › device renamed: kind and numbers go along',
    root: true,
    ask: async (fs) => {
      await fs.mknod('c', S_IFCHR | 0o600, { major: 1, minor: 3 })
      await fs.rename('c', 'd')
      const { kind, rdev } = await fs.stat('d')
      return { kind, rdev }
    },
    expect: { kind: 'character device', rdev: { major: 1, minor: 3 } },
  },
]
