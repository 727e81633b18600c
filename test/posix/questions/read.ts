import { MiB, O_RDONLY, O_RDWR } from '../constants.ts'
import { bytes, create, createOpen, moved, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const readQuestions: readonly Question[] = [
  {
    fact: 'read › empty file: no bytes',
    ask: async (fs) => text(await fs.read(await createOpen(fs, 'f'), 10)),
    expect: '',
  },
  {
    fact: 'read › more than there is: what there is, then no bytes',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [text(await fs.read(fd, 10)), text(await fs.read(fd, 10))]
    },
    expect: ['abc', ''],
  },
  {
    fact: 'read › in pieces: each goes on where the last one stopped',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcde')
      return [text(await fs.read(fd, 2)), text(await fs.read(fd, 2)), text(await fs.read(fd, 2))]
    },
    expect: ['ab', 'cd', 'e'],
  },
  {
    fact: 'read › no bytes asked for: none, and the offset stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [text(await fs.read(fd, 0)), text(await fs.read(fd, 1))]
    },
    expect: ['', 'a'],
  },
  {
    fact: 'read › grown by another user after the end was reached: the new bytes come',
    ask: async (fs) => {
      const reader = await createOpen(fs, 'f', 'abc')
      await fs.read(reader, 10)
      const writer = await fs.open('f', O_RDWR)
      await fs.pwrite(writer, bytes('def'), 3)
      return text(await fs.read(reader, 10))
    },
    expect: 'def',
  },
  {
    fact: 'read › shrunk by another user below the offset: no bytes',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.read(fd, 4)
      await fs.truncate('f', 2)
      return text(await fs.read(fd, 10))
    },
    expect: '',
  },
  {
    fact: 'read › pread: leaves the offset alone',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return [text(await fs.pread(fd, 2, 3)), text(await fs.read(fd, 2))]
    },
    expect: ['de', 'ab'],
  },
  {
    fact: 'read › pread at the end and past it: no bytes',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [text(await fs.pread(fd, 2, 3)), text(await fs.pread(fd, 2, 1000 * MiB))]
    },
    expect: ['', ''],
  },
  {
    fact: 'read › pread across the end: the bytes before it',
    ask: async (fs) => text(await fs.pread(await createOpen(fs, 'f', 'abc'), 10, 2)),
    expect: 'c',
  },
  {
    fact: 'read › pread at a negative offset: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return outcome(() => fs.pread(fd, 1, -1))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'read › through a symlink: the content of the target',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.symlink('f', 's')
      return text(await fs.read(await fs.open('s', O_RDONLY), 10))
    },
    expect: 'content',
  },
  {
    fact: 'read › neither mtime nor ctime move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'content')
      return moved(fs, 'f', () => fs.read(fd, 10))
    },
    expect: 'nothing',
  },
]
