import { O_RDONLY } from '../constants.ts'
import {
  content,
  create,
  createOpen,
  moved,
  movedOpen,
  names,
  outcome,
  sameFile,
} from '../observe.ts'
import type { Question } from '../question.ts'

export const renameQuestions: readonly Question[] = [
  {
    fact: 'rename › file: the same file under another name',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      const { ino } = await fs.stat('f')
      await fs.rename('f', 'g')
      return [await names(fs, '.'), await content(fs, 'g'), (await fs.stat('g')).ino === ino]
    },
    expect: [['g'], 'content', true],
  },
  {
    fact: 'rename › onto a file: replaced, and the new content is there',
    ask: async (fs) => {
      await create(fs, 'f', 'new')
      await create(fs, 'g', 'old')
      await fs.rename('f', 'g')
      return [await names(fs, '.'), await content(fs, 'g')]
    },
    expect: [['g'], 'new'],
  },
  {
    fact: 'rename › onto one of two hard links: the other keeps the old content, one link less',
    ask: async (fs) => {
      await create(fs, 'old', 'old')
      await fs.link('old', 'kept')
      await create(fs, 'new', 'new')
      await fs.rename('new', 'old')
      return [await content(fs, 'kept'), (await fs.stat('kept')).nlink]
    },
    expect: ['old', 1],
  },
  {
    fact: 'rename › onto itself: succeeds and changes nothing',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      const change = await moved(fs, 'f', () => fs.rename('f', 'f'))
      return [await content(fs, 'f'), change]
    },
    expect: ['content', 'nothing'],
  },
  {
    fact: 'rename › onto another hard link of the same file: succeeds, and both names stay',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'g')
      const change = await moved(fs, 'f', () => fs.rename('f', 'g'))
      return [await names(fs, '.'), (await fs.stat('f')).nlink, change]
    },
    expect: [['f', 'g'], 2, 'nothing'],
  },
  {
    fact: 'rename › directory: everything below moves along',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await create(fs, 'd/e/f', 'content')
      await fs.rename('d', 'g')
      return [await names(fs, '.'), await content(fs, 'g/e/f')]
    },
    expect: [['g'], 'content'],
  },
  {
    fact: 'rename › directory onto an empty directory: replaced',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.mkdir('e')
      await fs.rename('d', 'e')
      return [await names(fs, '.'), await names(fs, 'e')]
    },
    expect: [['e'], ['f']],
  },
  {
    fact: 'rename › directory onto one that is not empty: ENOTEMPTY',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      await create(fs, 'e/f')
      return [await outcome(() => fs.rename('d', 'e')), await names(fs, '.')]
    },
    expect: ['ENOTEMPTY', ['d', 'e']],
  },
  {
    fact: 'rename › directory onto a file: ENOTDIR; file onto a directory: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      return [await outcome(() => fs.rename('d', 'f')), await outcome(() => fs.rename('f', 'd'))]
    },
    expect: ['ENOTDIR', 'EISDIR'],
  },
  {
    fact: 'rename › symlink onto a directory: EISDIR; directory onto a symlink to one: ENOTDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      await fs.symlink('d', 's')
      return [await outcome(() => fs.rename('s', 'd')), await outcome(() => fs.rename('e', 's'))]
    },
    expect: ['EISDIR', 'ENOTDIR'],
  },
  {
    fact: 'rename › file onto a symlink: the symlink is replaced, its target untouched',
    ask: async (fs) => {
      await create(fs, 'target', 'target')
      await fs.symlink('target', 's')
      await create(fs, 'f', 'new')
      await fs.rename('f', 's')
      return [(await fs.lstat('s')).kind, await content(fs, 'target')]
    },
    expect: ['file', 'target'],
  },
  {
    fact: 'rename › symlink: the symlink moves, not its target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.rename('s', 't')
      return [await names(fs, '.'), (await fs.lstat('t')).kind]
    },
    expect: [['f', 't'], 'symlink'],
  },
  {
    fact: 'rename › directory into itself or below itself: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      return [
        await outcome(() => fs.rename('d', 'd/x')),
        await outcome(() => fs.rename('d', 'd/e/x')),
        await outcome(() => fs.rename('d', 'd/e')),
      ]
    },
    expect: ['EINVAL', 'EINVAL', 'EINVAL'],
  },
  {
    fact: 'rename › directory below itself through a symlink: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await fs.symlink('d/e', 's')
      return outcome(() => fs.rename('d', 's/x'))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'rename › onto a directory that contains it: ENOTEMPTY, for a file too',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await create(fs, 'd/e/f')
      return [
        await outcome(() => fs.rename('d/e', 'd')),
        await outcome(() => fs.rename('d/e/f', 'd')),
        await outcome(() => fs.rename('d/e/f', 'd/e')),
      ]
    },
    expect: ['ENOTEMPTY', 'ENOTEMPTY', 'ENOTEMPTY'],
  },
  {
    fact: 'rename › name that only begins like the directory: no ancestor, allowed',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('dd')
      return outcome(() => fs.rename('d', 'dd/d'))
    },
    expect: 'ok',
  },
  {
    fact: 'rename › missing: ENOENT, and what was to be replaced stays',
    ask: async (fs) => {
      await create(fs, 'f')
      return [await outcome(() => fs.rename('missing', 'f')), await names(fs, '.')]
    },
    expect: ['ENOENT', ['f']],
  },
  {
    fact: 'rename › into a missing directory: ENOENT; below a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      return [
        await outcome(() => fs.rename('f', 'missing/f')),
        await outcome(() => fs.rename('f', 'g/f')),
        await outcome(() => fs.rename('g/f', 'f')),
      ]
    },
    expect: ['ENOENT', 'ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'rename › dot or dot-dot at the end of either path: EBUSY',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      return [
        await outcome(() => fs.rename('d/.', 'x')),
        await outcome(() => fs.rename('d/..', 'x')),
        await outcome(() => fs.rename('d', 'e/.')),
        await outcome(() => fs.rename('d', 'e/..')),
      ]
    },
    expect: ['EBUSY', 'EBUSY', 'EBUSY', 'EBUSY'],
  },
  {
    fact: 'rename › slash behind either name of a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.rename('f/', 'g')),
        await outcome(() => fs.rename('f', 'g/')),
        await names(fs, '.'),
      ]
    },
    expect: ['ENOTDIR', 'ENOTDIR', ['f']],
  },
  {
    fact: 'rename › slashes behind both names of a directory: renamed',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.rename('d/', 'e/')
      return names(fs, '.')
    },
    expect: ['e'],
  },
  {
    fact: 'rename › symlink to a directory with a slash behind it: ENOTDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return outcome(() => fs.rename('s/', 't'))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'rename › ctime of the renamed file moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.rename('f', 'g'), 'g')
    },
    expect: 'ctime',
  },
  {
    fact: 'rename › directory into another directory: its ctime moves, its mtime does not',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      return moved(fs, 'd', () => fs.rename('d', 'e/d'), 'e/d')
    },
    expect: 'ctime',
  },
  {
    fact: 'rename › mtime and ctime of the directory that loses the name move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => fs.rename('d/f', 'f'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'rename › mtime and ctime of the directory that gains the name move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      return moved(fs, 'd', () => fs.rename('f', 'd/f'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'rename › the replaced file: loses its link, its ctime moves',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'old')
      await create(fs, 'new')
      const change = await movedOpen(fs, fd, () => fs.rename('new', 'old'))
      return [change, (await fs.fstat(fd)).nlink]
    },
    expect: ['ctime', 0],
  },
  {
    fact: 'rename › a replaced directory that is open: no link left',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      const fd = await fs.open('e', O_RDONLY)
      await fs.rename('d', 'e')
      return (await fs.fstat(fd)).nlink
    },
    expect: 0,
  },
  {
    fact: 'rename › directory from one directory to another: the link moves from parent to parent',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await fs.mkdir('a/d')
      await fs.rename('a/d', 'b/d')
      return [(await fs.stat('a')).nlink, (await fs.stat('b')).nlink]
    },
    expect: [2, 3],
  },
  {
    fact: 'rename › directory onto an empty one elsewhere: the new parent gains no link',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await fs.mkdir('a/d')
      await fs.mkdir('b/d')
      await fs.rename('a/d', 'b/d')
      return [(await fs.stat('a')).nlink, (await fs.stat('b')).nlink]
    },
    expect: [2, 3],
  },
  {
    fact: 'rename › directory onto an empty one beside it: the parent loses a link',
    ask: async (fs) => {
      await fs.mkdir('p')
      await fs.mkdir('p/a')
      await fs.mkdir('p/b')
      await fs.rename('p/a', 'p/b')
      return (await fs.stat('p')).nlink
    },
    expect: 3,
  },
  {
    fact: 'rename › directory moved: dot-dot leads to the new parent',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await fs.mkdir('a/d')
      await fs.rename('a/d', 'b/d')
      return [await sameFile(fs, 'b/d/..', 'b'), await sameFile(fs, 'b/d/..', 'a')]
    },
    expect: [true, false],
  },
  {
    fact: 'rename › only the case changes: another name like any other',
    ask: async (fs) => {
      await create(fs, 'name')
      await fs.rename('name', 'Name')
      return names(fs, '.')
    },
    expect: ['Name'],
  },
  {
    fact: 'rename › unknown flag: EINVAL',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.rename('f', 'g', 0x40))
    },
    expect: 'EINVAL',
  },
]
