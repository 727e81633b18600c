import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  FALLOC_FL_ZERO_RANGE,
  MiB,
  O_APPEND,
  O_RDONLY,
  O_RDWR,
  S_IFIFO,
} from '../constants.ts'
import { content, create, createOpen, moved, outcome } from '../observe.ts'
import type { Question } from '../question.ts'

const PUNCH = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE

export const fallocateQuestions: readonly Question[] = [
  {
    fact: 'fallocate › past the end: the file grows by zeros',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, 0, 0, 6)
      return content(fs, 'f')
    },
    expect: 'abc\0\0\0',
  },
  {
    fact: 'fallocate › inside the file: content and size stay',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.fallocate(fd, 0, 1, 2)
      return content(fs, 'f')
    },
    expect: 'abcdef',
  },
  {
    fact: 'fallocate › starting past the end: the file grows to offset plus length',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, 0, 5, 2)
      return content(fs, 'f')
    },
    expect: 'abc\0\0\0\0',
  },
  {
    fact: 'fallocate › KEEP_SIZE past the end: the size stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, MiB)
      return content(fs, 'f')
    },
    expect: 'abc',
  },
  {
    fact: 'fallocate › PUNCH_HOLE inside: zeros there, the rest and the size stay',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.fallocate(fd, PUNCH, 1, 3)
      return content(fs, 'f')
    },
    expect: 'a\0\0\0ef',
  },
  {
    fact: 'fallocate › PUNCH_HOLE over the end: zeros up to the end, the size stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.fallocate(fd, PUNCH, 4, 100)
      return content(fs, 'f')
    },
    expect: 'abcd\0\0',
  },
  {
    fact: 'fallocate › PUNCH_HOLE wholly past the end: succeeds and changes nothing',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, PUNCH, 100, 100)
      return content(fs, 'f')
    },
    expect: 'abc',
  },
  {
    fact: 'fallocate › PUNCH_HOLE over several mebibytes: the blocks are given back',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, new Uint8Array(16 * MiB).fill(0x78))
      const before = (await fs.fstat(fd)).blocks
      await fs.fallocate(fd, PUNCH, 0, 16 * MiB)
      const { size, blocks } = await fs.fstat(fd)
      return { size, fewer: blocks < before / 2 }
    },
    expect: { size: 16 * MiB, fewer: true },
  },
  {
    fact: 'fallocate › PUNCH_HOLE without KEEP_SIZE: EOPNOTSUPP',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return outcome(() => fs.fallocate(fd, FALLOC_FL_PUNCH_HOLE, 0, 1))
    },
    expect: 'EOPNOTSUPP',
  },
  {
    fact: 'fallocate › ZERO_RANGE inside: zeros there, the rest stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.fallocate(fd, FALLOC_FL_ZERO_RANGE, 1, 3)
      return content(fs, 'f')
    },
    expect: 'a\0\0\0ef',
  },
  {
    fact: 'fallocate › ZERO_RANGE over the end: the file grows',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, FALLOC_FL_ZERO_RANGE, 2, 4)
      return content(fs, 'f')
    },
    expect: 'ab\0\0\0\0',
  },
  {
    fact: 'fallocate › ZERO_RANGE over the end with KEEP_SIZE: zeros up to the end, the size stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      await fs.fallocate(fd, FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE, 2, 4)
      return content(fs, 'f')
    },
    expect: 'ab\0',
  },
  {
    fact: 'fallocate › PUNCH_HOLE together with ZERO_RANGE: EOPNOTSUPP',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return outcome(() => fs.fallocate(fd, PUNCH | FALLOC_FL_ZERO_RANGE, 0, 1))
    },
    expect: 'EOPNOTSUPP',
  },
  {
    fact: 'fallocate › length zero or negative, offset negative: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [
        await outcome(() => fs.fallocate(fd, 0, 0, 0)),
        await outcome(() => fs.fallocate(fd, 0, 0, -1)),
        await outcome(() => fs.fallocate(fd, 0, -1, 1)),
        await outcome(() => fs.fallocate(fd, PUNCH, 0, 0)),
      ]
    },
    expect: ['EINVAL', 'EINVAL', 'EINVAL', 'EINVAL'],
  },
  {
    fact: 'fallocate › unknown mode bit: EOPNOTSUPP',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return outcome(() => fs.fallocate(fd, 0x4000, 0, 1))
    },
    expect: 'EOPNOTSUPP',
  },
  {
    fact: 'fallocate › descriptor opened for reading: EBADF',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_RDONLY)
      return outcome(() => fs.fallocate(fd, 0, 0, 10))
    },
    expect: 'EBADF',
  },
  {
    fact: 'fallocate › FIFO: ESPIPE',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      const fd = await fs.open('p', O_RDWR)
      return outcome(() => fs.fallocate(fd, 0, 0, 10))
    },
    expect: 'ESPIPE',
  },
  {
    fact: 'fallocate › descriptor opened with O_APPEND: the offset given counts',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      const fd = await fs.open('f', O_RDWR | O_APPEND)
      await fs.fallocate(fd, PUNCH, 0, 2)
      return content(fs, 'f')
    },
    expect: '\0\0cdef',
  },
  {
    fact: 'fallocate › grown or punched: mtime and ctime move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return [
        await moved(fs, 'f', () => fs.fallocate(fd, 0, 0, 10)),
        await moved(fs, 'f', () => fs.fallocate(fd, PUNCH, 1, 2)),
      ]
    },
    expect: ['mtime and ctime', 'mtime and ctime'],
  },
  {
    fact: 'fallocate › ZERO_RANGE: mtime and ctime move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return moved(fs, 'f', () => fs.fallocate(fd, FALLOC_FL_ZERO_RANGE, 1, 2))
    },
    expect: 'mtime and ctime',
  },
]
