import { O_APPEND, O_CREAT, O_RDWR, O_TRUNC, O_WRONLY, SEEK_CUR, SEEK_SET } from '../constants.ts'
import { bytes, content, create, createOpen, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const appendQuestions: readonly Question[] = [
  {
    fact: 'append › offset moved back: writes at the end all the same',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_WRONLY | O_APPEND)
      await fs.lseek(fd, 0, SEEK_SET)
      await fs.write(fd, bytes('def'))
      return content(fs, 'f')
    },
    expect: 'abcdef',
  },
  {
    fact: 'append › offset: 0 when opened, the end after a write',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_WRONLY | O_APPEND)
      const opened = await fs.lseek(fd, 0, SEEK_CUR)
      await fs.write(fd, bytes('de'))
      return [opened, await fs.lseek(fd, 0, SEEK_CUR)]
    },
    expect: [0, 5],
  },
  {
    fact: 'append › reading: starts at the beginning',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_RDWR | O_APPEND)
      return text(await fs.read(fd, 2))
    },
    expect: 'ab',
  },
  {
    fact: 'append › two writers: both find the end that the other made',
    ask: async (fs) => {
      const one = await fs.open('f', O_WRONLY | O_CREAT | O_APPEND)
      const two = await fs.open('f', O_WRONLY | O_APPEND)
      await fs.write(one, bytes('1'))
      await fs.write(two, bytes('2'))
      await fs.write(one, bytes('3'))
      return content(fs, 'f')
    },
    expect: '123',
  },
  {
    fact: 'append › grown by another descriptor: the next write goes behind that',
    ask: async (fs) => {
      const plain = await createOpen(fs, 'f', 'abc')
      const appending = await fs.open('f', O_WRONLY | O_APPEND)
      await fs.pwrite(plain, bytes('Z'), 5)
      await fs.write(appending, bytes('!'))
      return content(fs, 'f')
    },
    expect: 'abc\0\0Z!',
  },
  {
    fact: 'append › shrunk in between: writes at the new end, without a gap',
    ask: async (fs) => {
      const fd = await fs.open('f', O_WRONLY | O_CREAT | O_APPEND)
      await fs.write(fd, bytes('abcdef'))
      await fs.truncate('f', 2)
      await fs.write(fd, bytes('Z'))
      return content(fs, 'f')
    },
    expect: 'abZ',
  },
  {
    fact: 'append › pwrite: Linux appends and ignores the offset',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_WRONLY | O_APPEND)
      await fs.pwrite(fd, bytes('Z'), 0)
      return [await content(fs, 'f'), await fs.lseek(fd, 0, SEEK_CUR)]
    },
    expect: ['abcZ', 0],
  },
  {
    fact: 'append › with O_TRUNC: empties first',
    ask: async (fs) => {
      await create(fs, 'f', 'old')
      const fd = await fs.open('f', O_WRONLY | O_APPEND | O_TRUNC)
      await fs.write(fd, bytes('new'))
      return content(fs, 'f')
    },
    expect: 'new',
  },
]
