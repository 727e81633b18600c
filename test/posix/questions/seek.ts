import { O_RDWR, S_IFIFO, SEEK_CUR, SEEK_END, SEEK_SET } from '../constants.ts'
import { createOpen, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const seekQuestions: readonly Question[] = [
  {
    fact: 'seek › from start, current offset and end: tells the new offset',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return [
        await fs.lseek(fd, 2, SEEK_SET),
        await fs.lseek(fd, 1, SEEK_CUR),
        await fs.lseek(fd, -2, SEEK_END),
        text(await fs.read(fd, 10)),
      ]
    },
    expect: [2, 3, 4, 'ef'],
  },
  {
    fact: 'seek › before the start: EINVAL, and the offset stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.lseek(fd, 3, SEEK_SET)
      return [
        await outcome(() => fs.lseek(fd, -1, SEEK_SET)),
        await outcome(() => fs.lseek(fd, -4, SEEK_CUR)),
        await outcome(() => fs.lseek(fd, -7, SEEK_END)),
        await fs.lseek(fd, 0, SEEK_CUR),
      ]
    },
    expect: ['EINVAL', 'EINVAL', 'EINVAL', 3],
  },
  {
    fact: 'seek › past the end: allowed, and the size stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [await fs.lseek(fd, 1000, SEEK_END), (await fs.fstat(fd)).size]
    },
    expect: [1003, 3],
  },
  {
    fact: 'seek › unknown whence: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return outcome(() => fs.lseek(fd, 0, 99))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'seek › FIFO: ESPIPE',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      const fd = await fs.open('p', O_RDWR)
      return outcome(() => fs.lseek(fd, 0, SEEK_CUR))
    },
    expect: 'ESPIPE',
  },
  {
    fact: 'seek › end of a file that grew: the new end',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.truncate('f', 1000)
      return fs.lseek(fd, 0, SEEK_END)
    },
    expect: 1000,
  },
]
