import { S_IFIFO } from '../constants.ts'
import { content, create, moved, names, outcome } from '../observe.ts'
import type { Question } from '../question.ts'

export const unlinkQuestions: readonly Question[] = [
  {
    fact: 'unlink › file: gone',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.unlink('f')
      return [await names(fs, '.'), await outcome(() => fs.lstat('f'))]
    },
    expect: [[], 'ENOENT'],
  },
  {
    fact: 'unlink › FIFO: gone',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      await fs.unlink('p')
      return names(fs, '.')
    },
    expect: [],
  },
  {
    fact: 'unlink › symlink: the symlink goes, the target stays',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.symlink('f', 's')
      await fs.unlink('s')
      return [await names(fs, '.'), await content(fs, 'f')]
    },
    expect: [['f'], 'content'],
  },
  {
    fact: 'unlink › read-only file: its own mode does not protect it',
    ask: async (fs) => {
      await create(fs, 'f', '', 0)
      return outcome(() => fs.unlink('f'))
    },
    expect: 'ok',
  },
  {
    fact: 'unlink › missing: ENOENT',
    ask: async (fs) => [
      await outcome(() => fs.unlink('missing')),
      await outcome(() => fs.unlink('missing/')),
      await outcome(() => fs.unlink('missing/f')),
    ],
    expect: ['ENOENT', 'ENOENT', 'ENOENT'],
  },
  {
    fact: 'unlink › directory: EISDIR, with a slash behind it too',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [await outcome(() => fs.unlink('d')), await outcome(() => fs.unlink('d/'))]
    },
    expect: ['EISDIR', 'EISDIR'],
  },
  {
    fact: 'unlink › last component dot or dot-dot: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [await outcome(() => fs.unlink('d/.')), await outcome(() => fs.unlink('d/..'))]
    },
    expect: ['EISDIR', 'EISDIR'],
  },
  {
    fact: 'unlink › file with a slash behind it: ENOTDIR, and it stays',
    ask: async (fs) => {
      await create(fs, 'f')
      return [await outcome(() => fs.unlink('f/')), await names(fs, '.')]
    },
    expect: ['ENOTDIR', ['f']],
  },
  {
    fact: 'unlink › symlink to a directory with a slash behind it: ENOTDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return outcome(() => fs.unlink('s/'))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'unlink › one of two links: the other keeps the content and counts one link',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.link('f', 'g')
      await fs.unlink('f')
      return [await content(fs, 'g'), (await fs.stat('g')).nlink]
    },
    expect: ['content', 1],
  },
  {
    fact: 'unlink › one of two links: ctime of the file moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'g')
      return moved(fs, 'g', () => fs.unlink('f'))
    },
    expect: 'ctime',
  },
  {
    fact: 'unlink › mtime and ctime of the directory move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => fs.unlink('d/f'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'unlink › and made again under the same name: nothing of the old file is left',
    ask: async (fs) => {
      await create(fs, 'f', 'old content', 0o600)
      await fs.unlink('f')
      await create(fs, 'f', '', 0o644)
      const { size, mode, nlink } = await fs.stat('f')
      return { size, mode, nlink }
    },
    expect: { size: 0, mode: 0o644, nlink: 1 },
  },
]
