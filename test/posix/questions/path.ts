import { O_RDONLY, S_IFIFO } from '../constants.ts'
import { create, names, outcome, outcomes, sameFile } from '../observe.ts'
import type { Question } from '../question.ts'

/** A directory path of exactly `length` bytes that leads, by dots, to where it starts. */
function dots(length: number): string {
  return './'.repeat(length / 2) + (length % 2 === 1 ? '.' : '')
}

export const pathQuestions: readonly Question[] = [
  {
    fact: 'path › empty: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.lstat('')),
        await outcome(() => fs.open('', O_RDONLY)),
        await outcome(() => fs.mkdir('')),
        await outcome(() => fs.rename('f', '')),
        await outcome(() => fs.link('f', '')),
        await outcome(() => fs.unlink('')),
      ]
    },
    expect: Array(6).fill('ENOENT'),
  },
  {
    fact: 'path › 4095 bytes: resolved; 4096: ENAMETOOLONG',
    ask: (fs) => outcomes([dots(4095), dots(4096)], (path) => fs.stat(path)),
    expect: ['ok', 'ENAMETOOLONG'],
  },
  {
    fact: 'path › new name at the end of 4095 bytes: made; of 4096: ENAMETOOLONG',
    ask: async (fs) => [
      await outcome(() => fs.mkdir(`${dots(4094)}d`)),
      await outcome(() => fs.mkdir(`${dots(4094)}de`)),
      await names(fs, '.'),
    ],
    expect: ['ok', 'ENAMETOOLONG', ['d']],
  },
  {
    fact: 'path › too long and leading nowhere: ENAMETOOLONG comes first',
    ask: (fs) => outcome(() => fs.stat(`missing/${dots(4096)}`)),
    expect: 'ENAMETOOLONG',
  },
  {
    fact: 'path › missing directory in the middle: ENOENT',
    ask: (fs) => outcome(() => fs.stat('missing/f')),
    expect: 'ENOENT',
  },
  {
    fact: 'path › file in the middle: ENOTDIR, whatever follows it',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcomes(['f/g', 'f/g/h', 'f/.', 'f/..', 'f/'], (path) => fs.stat(path))
    },
    expect: Array(5).fill('ENOTDIR'),
  },
  {
    fact: 'path › FIFO in the middle: ENOTDIR',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      return outcome(() => fs.stat('p/f'))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'path › symlink to a file in the middle: ENOTDIR; dangling: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.symlink('missing', 'dangling')
      return outcomes(['s/g', 'dangling/g'], (path) => fs.stat(path))
    },
    expect: ['ENOTDIR', 'ENOENT'],
  },
  {
    fact: 'path › doubled slashes and dots: the same file',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return [await sameFile(fs, 'd//f', 'd/f'), await sameFile(fs, './d/././f', 'd/f')]
    },
    expect: [true, true],
  },
  {
    fact: 'path › dot-dot: the parent directory, which must be there to be left',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f')
      return [await sameFile(fs, 'd/../f', 'f'), await outcome(() => fs.stat('missing/../f'))]
    },
    expect: [true, 'ENOENT'],
  },
  {
    fact: 'path › directory with slashes behind it: the directory',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [(await fs.lstat('d/')).kind, (await fs.lstat('d///')).kind]
    },
    expect: ['directory', 'directory'],
  },
  {
    fact: 'path › a tree 100 directories deep: made, reached and removed',
    ask: async (fs) => {
      const path = (depth: number): string => Array(depth).fill('d').join('/')
      for (let depth = 1; depth <= 100; depth++) await fs.mkdir(path(depth))
      const { kind } = await fs.stat(path(100))
      for (let depth = 100; depth >= 1; depth--) await fs.rmdir(path(depth))
      return [kind, await names(fs, '.')]
    },
    expect: ['directory', []],
  },
]
