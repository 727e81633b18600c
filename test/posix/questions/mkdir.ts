import { create, moved, names, outcome, outcomes, permissions } from '../observe.ts'
import type { Question } from '../question.ts'

export const mkdirQuestions: readonly Question[] = [
  {
    fact: 'mkdir › new directory: empty, two links, owned by who made it',
    ask: async (fs) => {
      await fs.mkdir('d')
      const { kind, nlink, uid } = await fs.stat('d')
      return { kind, nlink, mine: uid === fs.credentials.uid, names: await names(fs, 'd') }
    },
    expect: { kind: 'directory', nlink: 2, mine: true, names: [] },
  },
  {
    fact: 'mkdir › new directory: atime, mtime and ctime are the same instant',
    ask: async (fs) => {
      await fs.mkdir('d')
      const { atimeNs, mtimeNs, ctimeNs } = await fs.stat('d')
      return [atimeNs === mtimeNs, mtimeNs === ctimeNs]
    },
    expect: [true, true],
  },
  {
    fact: 'mkdir › mode: the bits of the umask are taken out',
    ask: async (fs) => {
      await fs.umask(0o027)
      await fs.mkdir('d', 0o777)
      return permissions(fs, 'd')
    },
    expect: '0750',
  },
  {
    fact: 'mkdir › mode 07777: set-user-id and set-group-id are dropped, sticky is kept',
    ask: async (fs) => {
      await fs.umask(0)
      await fs.mkdir('d', 0o7777)
      return permissions(fs, 'd')
    },
    expect: '1777',
  },
  {
    fact: 'mkdir › inside a directory: it gains a link',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/a')
      await fs.mkdir('d/b')
      return (await fs.stat('d')).nlink
    },
    expect: 4,
  },
  {
    fact: 'mkdir › grandchildren: the grandparent gains no link',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/a')
      await fs.mkdir('d/a/b')
      return [(await fs.stat('d')).nlink, (await fs.stat('d/a')).nlink]
    },
    expect: [3, 3],
  },
  {
    fact: 'mkdir › files inside: the directory gains no link',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.symlink('f', 'd/s')
      return (await fs.stat('d')).nlink
    },
    expect: 2,
  },
  {
    fact: 'mkdir › mtime and ctime of the parent move',
    ask: async (fs) => {
      await fs.mkdir('d')
      return moved(fs, 'd', () => fs.mkdir('d/e'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'mkdir › on a file, a directory, a symlink, a dangling symlink: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      await fs.symlink('missing', 'dangling')
      return outcomes(['f', 'd', 's', 'dangling'], (path) => fs.mkdir(path))
    },
    expect: ['EEXIST', 'EEXIST', 'EEXIST', 'EEXIST'],
  },
  {
    fact: 'mkdir › dangling symlink with a slash behind it: EEXIST, and the target is not made',
    ask: async (fs) => {
      await fs.symlink('target', 's')
      return [await outcome(() => fs.mkdir('s/')), await names(fs, '.')]
    },
    expect: ['EEXIST', ['s']],
  },
  {
    fact: 'mkdir › new name with slashes behind it: makes the directory',
    ask: async (fs) => {
      await fs.mkdir('d//')
      return names(fs, '.')
    },
    expect: ['d'],
  },
  {
    fact: 'mkdir › parent missing: ENOENT',
    ask: (fs) => outcome(() => fs.mkdir('missing/d')),
    expect: 'ENOENT',
  },
  {
    fact: 'mkdir › parent is a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.mkdir('f/d'))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'mkdir › dot and dot-dot: EEXIST',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [
        await outcome(() => fs.mkdir('.')),
        await outcome(() => fs.mkdir('d/.')),
        await outcome(() => fs.mkdir('d/..')),
      ]
    },
    expect: ['EEXIST', 'EEXIST', 'EEXIST'],
  },
  {
    fact: 'mkdir › dot in a missing directory: ENOENT',
    ask: (fs) => outcome(() => fs.mkdir('d/.')),
    expect: 'ENOENT',
  },
  {
    fact: 'mkdir › through a symlink in the middle: made in the target',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      await fs.mkdir('s/e')
      return names(fs, 'd')
    },
    expect: ['e'],
  },
]
