import { RENAME_EXCHANGE, RENAME_NOREPLACE } from '../constants.ts'
import { content, create, moved, names, outcome, outcomes, sameFile, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const renameFlagsQuestions: readonly Question[] = [
  {
    fact: 'noreplace › new name: renamed',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.rename('f', 'g', RENAME_NOREPLACE)
      return names(fs, '.')
    },
    expect: ['g'],
  },
  {
    fact: 'noreplace › onto a file, a directory, a dangling symlink: EEXIST, and nothing moves',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      await fs.mkdir('d')
      await fs.symlink('missing', 's')
      const all = await outcomes(['g', 'd', 's'], (to) => fs.rename('f', to, RENAME_NOREPLACE))
      return [all, await names(fs, '.')]
    },
    expect: [
      ['EEXIST', 'EEXIST', 'EEXIST'],
      ['d', 'f', 'g', 's'],
    ],
  },
  {
    fact: 'noreplace › onto itself or another hard link of itself: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'g')
      return [
        await outcome(() => fs.rename('f', 'f', RENAME_NOREPLACE)),
        await outcome(() => fs.rename('f', 'g', RENAME_NOREPLACE)),
      ]
    },
    expect: ['EEXIST', 'EEXIST'],
  },
  {
    fact: 'noreplace › missing source and existing name: ENOENT comes first',
    ask: async (fs) => {
      await create(fs, 'g')
      return outcome(() => fs.rename('missing', 'g', RENAME_NOREPLACE))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'noreplace › dot at the end of the new path: EEXIST, where plain rename says EBUSY',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('e')
      return [
        await outcome(() => fs.rename('d', 'e/.', RENAME_NOREPLACE)),
        await outcome(() => fs.rename('d', 'e/..', RENAME_NOREPLACE)),
      ]
    },
    expect: ['EEXIST', 'EEXIST'],
  },
  {
    fact: 'noreplace › directory below itself: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      return outcome(() => fs.rename('d', 'd/x', RENAME_NOREPLACE))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'exchange › two files: each has the other name',
    ask: async (fs) => {
      await create(fs, 'f', 'first')
      await create(fs, 'g', 'second')
      await fs.rename('f', 'g', RENAME_EXCHANGE)
      return [await content(fs, 'f'), await content(fs, 'g'), await names(fs, '.')]
    },
    expect: ['second', 'first', ['f', 'g']],
  },
  {
    fact: 'exchange › file and directory: each has the other name',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.mkdir('d')
      await create(fs, 'd/inner')
      await fs.rename('f', 'd', RENAME_EXCHANGE)
      return [await content(fs, 'd'), await names(fs, 'f')]
    },
    expect: ['content', ['inner']],
  },
  {
    fact: 'exchange › two directories that are not empty: each has the other name',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await create(fs, 'a/f')
      await create(fs, 'b/g')
      await fs.rename('a', 'b', RENAME_EXCHANGE)
      return [await names(fs, 'a'), await names(fs, 'b')]
    },
    expect: [['g'], ['f']],
  },
  {
    fact: 'exchange › symlink and file: the symlink itself moves',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.symlink('target', 's')
      await fs.rename('f', 's', RENAME_EXCHANGE)
      return [text(await fs.readlink('f')), await content(fs, 's')]
    },
    expect: ['target', 'content'],
  },
  {
    fact: 'exchange › either side missing: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.rename('f', 'missing', RENAME_EXCHANGE)),
        await outcome(() => fs.rename('missing', 'f', RENAME_EXCHANGE)),
      ]
    },
    expect: ['ENOENT', 'ENOENT'],
  },
  {
    fact: 'exchange › with itself or another hard link of itself: succeeds and changes nothing',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'g')
      return [
        await moved(fs, 'f', () => fs.rename('f', 'f', RENAME_EXCHANGE)),
        await moved(fs, 'f', () => fs.rename('f', 'g', RENAME_EXCHANGE)),
      ]
    },
    expect: ['nothing', 'nothing'],
  },
  {
    fact: 'exchange › directory with something inside it, either way round: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      await create(fs, 'd/e/f')
      return [
        await outcome(() => fs.rename('d', 'd/e', RENAME_EXCHANGE)),
        await outcome(() => fs.rename('d/e', 'd', RENAME_EXCHANGE)),
        await outcome(() => fs.rename('d/e/f', 'd', RENAME_EXCHANGE)),
      ]
    },
    expect: ['EINVAL', 'EINVAL', 'EINVAL'],
  },
  {
    fact: 'exchange › together with NOREPLACE: EINVAL',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      return outcome(() => fs.rename('f', 'g', RENAME_EXCHANGE | RENAME_NOREPLACE))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'exchange › directory and file of two parents: the link goes with the directory',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await fs.mkdir('a/x')
      await create(fs, 'b/x')
      await fs.rename('a/x', 'b/x', RENAME_EXCHANGE)
      return [(await fs.stat('a')).nlink, (await fs.stat('b')).nlink]
    },
    expect: [2, 3],
  },
  {
    fact: 'exchange › two directories of two parents: links stay, dot-dot changes',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await fs.mkdir('a/x')
      await fs.mkdir('b/y')
      const { ino } = await fs.stat('a/x')
      await fs.rename('a/x', 'b/y', RENAME_EXCHANGE)
      return {
        swapped: (await fs.stat('b/y')).ino === ino,
        up: await sameFile(fs, 'b/y/..', 'b'),
        links: [(await fs.stat('a')).nlink, (await fs.stat('b')).nlink],
      }
    },
    expect: { swapped: true, up: true, links: [3, 3] },
  },
  {
    fact: 'exchange › link counts of the files: unchanged',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.link('f', 'other')
      await create(fs, 'g')
      await fs.rename('f', 'g', RENAME_EXCHANGE)
      return [(await fs.stat('g')).nlink, (await fs.stat('f')).nlink]
    },
    expect: [2, 1],
  },
  {
    fact: 'exchange › ctime of both moves, mtime of neither',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      return [
        await moved(fs, 'f', () => fs.rename('f', 'g', RENAME_EXCHANGE), 'g'),
        await moved(fs, 'f', () => fs.rename('g', 'f', RENAME_EXCHANGE), 'g'),
      ]
    },
    expect: ['ctime', 'ctime'],
  },
  {
    fact: 'exchange › mtime and ctime of both directories move',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('b')
      await create(fs, 'a/f')
      await create(fs, 'b/f')
      return [
        await moved(fs, 'a', () => fs.rename('a/f', 'b/f', RENAME_EXCHANGE)),
        await moved(fs, 'b', () => fs.rename('a/f', 'b/f', RENAME_EXCHANGE)),
      ]
    },
    expect: ['mtime and ctime', 'mtime and ctime'],
  },
  {
    fact: 'exchange › slash behind the name of a file on either side: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      return [
        await outcome(() => fs.rename('f/', 'd', RENAME_EXCHANGE)),
        await outcome(() => fs.rename('d', 'f/', RENAME_EXCHANGE)),
      ]
    },
    expect: ['ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'exchange › slash behind the name of a directory: allowed, though a file takes it',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      await fs.rename('f', 'd/', RENAME_EXCHANGE)
      return (await fs.stat('d')).kind
    },
    expect: 'file',
  },
]
