import { O_RDONLY, S_IFIFO } from '../constants.ts'
import { create, moved, movedOpen, names, outcome, outcomes } from '../observe.ts'
import type { Question } from '../question.ts'

export const rmdirQuestions: readonly Question[] = [
  {
    fact: 'rmdir › empty directory: gone',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.rmdir('d')
      return names(fs, '.')
    },
    expect: [],
  },
  {
    fact: 'rmdir › slash behind the name: gone',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.rmdir('d/')
      return names(fs, '.')
    },
    expect: [],
  },
  {
    fact: 'rmdir › directory with a file, a directory, a symlink, a FIFO in it: ENOTEMPTY',
    ask: async (fs) => {
      for (const path of ['a', 'b', 'c', 'd']) await fs.mkdir(path)
      await create(fs, 'a/f')
      await fs.mkdir('b/e')
      await fs.symlink('missing', 'c/s')
      await fs.mknod('d/p', S_IFIFO | 0o600)
      return outcomes(['a', 'b', 'c', 'd'], (path) => fs.rmdir(path))
    },
    expect: ['ENOTEMPTY', 'ENOTEMPTY', 'ENOTEMPTY', 'ENOTEMPTY'],
  },
  {
    fact: 'rmdir › emptied again: gone',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.unlink('d/f')
      return outcome(() => fs.rmdir('d'))
    },
    expect: 'ok',
  },
  {
    fact: 'rmdir › missing: ENOENT',
    ask: (fs) => outcome(() => fs.rmdir('missing')),
    expect: 'ENOENT',
  },
  {
    fact: 'rmdir › file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return [await outcome(() => fs.rmdir('f')), await outcome(() => fs.rmdir('f/'))]
    },
    expect: ['ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'rmdir › symlink to a directory, with a slash behind it too: ENOTDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return [await outcome(() => fs.rmdir('s')), await outcome(() => fs.rmdir('s/'))]
    },
    expect: ['ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'rmdir › last component dot: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [await outcome(() => fs.rmdir('d/.')), await outcome(() => fs.rmdir('.'))]
    },
    expect: ['EINVAL', 'EINVAL'],
  },
  {
    fact: 'rmdir › last component dot-dot: ENOTEMPTY',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      return outcome(() => fs.rmdir('d/e/..'))
    },
    expect: 'ENOTEMPTY',
  },
  {
    fact: 'rmdir › the parent loses a link',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await fs.rmdir('d/e')
      return (await fs.stat('d')).nlink
    },
    expect: 2,
  },
  {
    fact: 'rmdir › mtime and ctime of the parent move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      return moved(fs, 'd', () => fs.rmdir('d/e'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'rmdir › refused with ENOTEMPTY: the parent does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await fs.mkdir('d/e/f')
      return moved(fs, 'd', () => outcome(() => fs.rmdir('d/e')))
    },
    expect: 'nothing',
  },
  {
    fact: 'rmdir › while open: no links left, its ctime moves',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      const change = await movedOpen(fs, fd, () => fs.rmdir('d'))
      return { nlink: (await fs.fstat(fd)).nlink, ctime: change.includes('ctime') }
    },
    expect: { nlink: 0, ctime: true },
  },
  {
    fact: 'rmdir › while open: listing it is ENOENT',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      await fs.rmdir('d')
      return outcome(() => fs.getdents(fd, 4096))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'rmdir › name taken again while the old one is open: another directory',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      await fs.rmdir('d')
      await fs.mkdir('d')
      return (await fs.fstat(fd)).ino === (await fs.stat('d')).ino
    },
    expect: false,
  },
]
