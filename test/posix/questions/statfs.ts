import { create, outcome, outcomes } from '../observe.ts'
import type { Question } from '../question.ts'

export const statfsQuestions: readonly Question[] = [
  {
    fact: 'statfs › numbers: a block size, more blocks than free ones, names of 255 bytes',
    ask: async (fs) => {
      const seen = await fs.statfs('.')
      return {
        blockSize: seen.blockBytes > 0,
        total: seen.blocks >= seen.blocksFree,
        free: seen.blocksFree >= seen.blocksAvailable,
        nameBytesMax: seen.nameBytesMax,
      }
    },
    expect: { blockSize: true, total: true, free: true, nameBytesMax: 255 },
  },
  {
    fact: 'statfs › of a file, a directory, through a symlink: the same file system',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      const sizes = []
      for (const path of ['.', 'f', 's']) sizes.push((await fs.statfs(path)).blocks)
      return new Set(sizes).size
    },
    expect: 1,
  },
  {
    fact: 'statfs › missing: ENOENT; dangling symlink: ENOENT; below a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('missing', 's')
      return outcomes(['missing', 's', 'f/g'], (path) => fs.statfs(path))
    },
    expect: ['ENOENT', 'ENOENT', 'ENOTDIR'],
  },
  {
    fact: 'statfs › of a file that may not be read: answered',
    ask: async (fs) => {
      await create(fs, 'f', '', 0)
      return outcome(() => fs.statfs('f'))
    },
    expect: 'ok',
  },
]
