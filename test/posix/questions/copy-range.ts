import { MiB, O_APPEND, O_RDONLY, O_WRONLY, SEEK_CUR } from '../constants.ts'
import { bytes, content, create, createOpen, moved, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const copyRangeQuestions: readonly Question[] = [
  {
    fact: 'copy-range › a part into the middle of another file: only that place changes',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abcdef')
      const to = await createOpen(fs, 'g', '......')
      return [await fs.copyFileRange(from, 1, to, 2, 3), await content(fs, 'g')]
    },
    expect: [3, '..bcd.'],
  },
  {
    fact: 'copy-range › more than the source has: only what there is',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      const to = await createOpen(fs, 'g')
      return [await fs.copyFileRange(from, 1, to, 0, 100), await content(fs, 'g')]
    },
    expect: [2, 'bc'],
  },
  {
    fact: 'copy-range › from the end of the source: nothing, and the other file stays',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      const to = await createOpen(fs, 'g', 'xyz')
      return [await fs.copyFileRange(from, 3, to, 0, 1), await content(fs, 'g')]
    },
    expect: [0, 'xyz'],
  },
  {
    fact: 'copy-range › behind the end of the other file: the gap reads as zeros',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      const to = await createOpen(fs, 'g', 'x')
      await fs.copyFileRange(from, 0, to, 3, 3)
      return content(fs, 'g')
    },
    expect: 'x\0\0abc',
  },
  {
    fact: 'copy-range › offsets given: those of the descriptors stay',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abcdef')
      const to = await createOpen(fs, 'g')
      await fs.copyFileRange(from, 1, to, 0, 3)
      return [await fs.lseek(from, 0, SEEK_CUR), await fs.lseek(to, 0, SEEK_CUR)]
    },
    expect: [0, 0],
  },
  {
    fact: 'copy-range › no offsets given: those of the descriptors count and move',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abcdef')
      const to = await createOpen(fs, 'g')
      await fs.read(from, 1)
      await fs.write(to, bytes('>'))
      await fs.copyFileRange(from, null, to, null, 2)
      await fs.copyFileRange(from, null, to, null, 2)
      return [await content(fs, 'g'), text(await fs.read(from, 9)), await fs.lseek(to, 0, SEEK_CUR)]
    },
    expect: ['>bcde', 'f', 5],
  },
  {
    fact: 'copy-range › inside one file, apart: copies',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc...')
      await fs.copyFileRange(fd, 0, fd, 3, 3)
      return content(fs, 'f')
    },
    expect: 'abcabc',
  },
  {
    fact: 'copy-range › inside one file, overlapping: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return [await outcome(() => fs.copyFileRange(fd, 0, fd, 2, 3)), await content(fs, 'f')]
    },
    expect: ['EINVAL', 'abcdef'],
  },
  {
    fact: 'copy-range › two hard links of one file, overlapping: EINVAL as well',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abcdef')
      await fs.link('f', 'g')
      const to = await fs.open('g', O_WRONLY)
      return outcome(() => fs.copyFileRange(from, 0, to, 2, 3))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'copy-range › length zero: nothing is copied',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      const to = await createOpen(fs, 'g', 'xyz')
      return [await fs.copyFileRange(from, 0, to, 9, 0), await content(fs, 'g')]
    },
    expect: [0, 'xyz'],
  },
  {
    fact: 'copy-range › source open for writing only, or the other for reading only: EBADF',
    ask: async (fs) => {
      const whole = await createOpen(fs, 'f', 'abc')
      await create(fs, 'g')
      const writing = await fs.open('g', O_WRONLY)
      const reading = await fs.open('g', O_RDONLY)
      return [
        await outcome(() => fs.copyFileRange(writing, 0, whole, 0, 1)),
        await outcome(() => fs.copyFileRange(whole, 0, reading, 0, 1)),
      ]
    },
    expect: ['EBADF', 'EBADF'],
  },
  {
    fact: 'copy-range › into a descriptor opened with O_APPEND: EBADF',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      await create(fs, 'g')
      const to = await fs.open('g', O_WRONLY | O_APPEND)
      return outcome(() => fs.copyFileRange(from, 0, to, 0, 1))
    },
    expect: 'EBADF',
  },
  {
    fact: 'copy-range › from a directory: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      const from = await fs.open('d', O_RDONLY)
      const to = await createOpen(fs, 'g')
      return outcome(() => fs.copyFileRange(from, 0, to, 0, 1))
    },
    expect: 'EISDIR',
  },
  {
    fact: 'copy-range › a hole and data after it: zeros and data arrive',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f')
      await fs.pwrite(from, bytes('data'), 3 * MiB)
      const to = await createOpen(fs, 'g', 'x'.repeat(8))
      const copied = await fs.copyFileRange(from, 0, to, 0, 4 * MiB)
      const start = text(await fs.pread(to, 9, 0))
      return [copied, start, text(await fs.pread(to, 5, 3 * MiB))]
    },
    expect: [3 * MiB + 4, '\0'.repeat(9), 'data'],
  },
  {
    fact: 'copy-range › of two mebibytes: the copy no longer follows the source',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'x'.repeat(2 * MiB))
      const to = await createOpen(fs, 'g')
      await fs.copyFileRange(from, 0, to, 0, 2 * MiB)
      await fs.pwrite(from, bytes('changed'), 0)
      return [text(await fs.pread(to, 7, 0)), (await fs.fstat(to)).size]
    },
    expect: ['xxxxxxx', 2 * MiB],
  },
  {
    fact: 'copy-range › mtime and ctime of the written file move, not of the read one',
    ask: async (fs) => {
      const from = await createOpen(fs, 'f', 'abc')
      const to = await createOpen(fs, 'g')
      return [
        await moved(fs, 'g', () => fs.copyFileRange(from, 0, to, 0, 3)),
        await moved(fs, 'f', () => fs.copyFileRange(from, 0, to, 0, 3)),
      ]
    },
    expect: ['mtime and ctime', 'nothing'],
  },
]
