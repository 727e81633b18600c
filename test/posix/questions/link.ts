import { S_IFIFO } from '../constants.ts'
import { content, create, moved, names, outcome, outcomes, sameFile, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const linkQuestions: readonly Question[] = [
  {
    fact: 'link › two names: one file, counting two links',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.link('f', 'g')
      return [await sameFile(fs, 'f', 'g'), (await fs.stat('f')).nlink, await content(fs, 'g')]
    },
    expect: [true, 2, 'content'],
  },
  {
    fact: 'link › into another directory: one file still',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      await fs.link('f', 'd/g')
      return sameFile(fs, 'f', 'd/g')
    },
    expect: true,
  },
  {
    fact: 'link › mode and times changed through one name: seen through the other',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'g')
      await fs.chmod('f', 0o600)
      await fs.utimens('f', 1n, 2n)
      const { mode, atimeNs, mtimeNs } = await fs.stat('g')
      return { mode, atimeNs, mtimeNs }
    },
    expect: { mode: 0o600, atimeNs: 1n, mtimeNs: 2n },
  },
  {
    fact: 'link › ctime of the file moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.link('f', 'g'))
    },
    expect: 'ctime',
  },
  {
    fact: 'link › mtime and ctime of the new directory move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      return moved(fs, 'd', () => fs.link('f', 'd/g'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'link › the directory of the old name does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => fs.link('d/f', 'g'))
    },
    expect: 'nothing',
  },
  {
    fact: 'link › of a symlink: links the symlink, not its target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.link('s', 't')
      return [(await fs.lstat('t')).kind, (await fs.lstat('s')).nlink, (await fs.stat('f')).nlink]
    },
    expect: ['symlink', 2, 1],
  },
  {
    fact: 'link › of a dangling symlink: links the symlink',
    ask: async (fs) => {
      await fs.symlink('missing', 's')
      await fs.link('s', 't')
      return text(await fs.readlink('t'))
    },
    expect: 'missing',
  },
  {
    fact: 'link › of a FIFO: counts two links',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      await fs.link('p', 'q')
      return [(await fs.stat('q')).kind, (await fs.stat('p')).nlink]
    },
    expect: ['fifo', 2],
  },
  {
    fact: 'link › of a directory: EPERM',
    ask: async (fs) => {
      await fs.mkdir('d')
      return outcome(() => fs.link('d', 'e'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'link › of a directory onto an existing name: EEXIST comes before EPERM',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      return outcome(() => fs.link('d', 'f'))
    },
    expect: 'EEXIST',
  },
  {
    fact: 'link › onto a file, itself, a directory, a dangling symlink: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      await fs.mkdir('d')
      await fs.symlink('missing', 's')
      return outcomes(['g', 'f', 'd', 's'], (path) => fs.link('f', path))
    },
    expect: ['EEXIST', 'EEXIST', 'EEXIST', 'EEXIST'],
  },
  {
    fact: 'link › onto dot or dot-dot: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      return [await outcome(() => fs.link('f', 'd/.')), await outcome(() => fs.link('f', 'd/..'))]
    },
    expect: ['EEXIST', 'EEXIST'],
  },
  {
    fact: 'link › old name missing: ENOENT, even where the new name exists',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.link('missing', 'g')),
        await outcome(() => fs.link('missing', 'f')),
      ]
    },
    expect: ['ENOENT', 'ENOENT'],
  },
  {
    fact: 'link › new directory missing: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.link('f', 'missing/g'))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'link › slash behind the old name of a file: ENOTDIR; behind the new one: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      return [await outcome(() => fs.link('f/', 'g')), await outcome(() => fs.link('f', 'g/'))]
    },
    expect: ['ENOTDIR', 'ENOENT'],
  },
  {
    fact: 'link › a hundred names: all counted, and all but one can go',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      for (let number = 0; number < 99; number++) await fs.link('f', `g${number}`)
      const { nlink } = await fs.stat('f')
      await fs.unlink('f')
      for (let number = 1; number < 99; number++) await fs.unlink(`g${number}`)
      return [nlink, await names(fs, '.'), (await fs.stat('g0')).nlink, await content(fs, 'g0')]
    },
    expect: [100, ['g0'], 1, 'content'],
  },
  {
    fact: 'link › original name removed and made anew: the link is not touched',
    ask: async (fs) => {
      await create(fs, 'f', 'first')
      await fs.link('f', 'g')
      await fs.unlink('f')
      await create(fs, 'f', 'second')
      return [await content(fs, 'g'), await sameFile(fs, 'f', 'g')]
    },
    expect: ['first', false],
  },
]
