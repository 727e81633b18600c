import {
  O_CREAT,
  O_DIRECTORY,
  O_NOFOLLOW,
  O_PATH,
  O_RDONLY,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
} from '../constants.ts'
import { bytes, content, create, createOpen, NO_DESCRIPTOR, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const openQuestions: readonly Question[] = [
  {
    fact: 'open › missing file without O_CREAT: ENOENT',
    ask: (fs) => outcome(() => fs.open('missing', O_RDONLY)),
    expect: 'ENOENT',
  },
  {
    fact: 'open › directory for writing: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [
        await outcome(() => fs.open('d', O_WRONLY)),
        await outcome(() => fs.open('d', O_RDWR)),
        await outcome(() => fs.open('d', O_RDONLY | O_TRUNC)),
      ]
    },
    expect: ['EISDIR', 'EISDIR', 'EISDIR'],
  },
  {
    fact: 'open › directory for reading: opens, but read is EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      return outcome(() => fs.read(fd, 1))
    },
    expect: 'EISDIR',
  },
  {
    fact: 'open › file with O_DIRECTORY: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.open('f', O_RDONLY | O_DIRECTORY))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'open › symlink to a directory with O_DIRECTORY: opens the directory',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      const fd = await fs.open('s', O_RDONLY | O_DIRECTORY)
      return (await fs.fstat(fd)).ino === (await fs.stat('d')).ino
    },
    expect: true,
  },
  {
    fact: 'open › symlink with O_NOFOLLOW: ELOOP',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      return outcome(() => fs.open('s', O_RDONLY | O_NOFOLLOW))
    },
    expect: 'ELOOP',
  },
  {
    fact: 'open › symlink in the middle of the path: O_NOFOLLOW does not mind',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.symlink('d', 's')
      return outcome(() => fs.open('s/f', O_RDONLY | O_NOFOLLOW))
    },
    expect: 'ok',
  },
  {
    fact: 'open › symlink to a directory with O_DIRECTORY and O_NOFOLLOW: ENOTDIR, not ELOOP',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return outcome(() => fs.open('s', O_RDONLY | O_DIRECTORY | O_NOFOLLOW))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'open › symlink with a slash behind it: O_NOFOLLOW follows it all the same',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return outcome(() => fs.open('s/', O_RDONLY | O_NOFOLLOW))
    },
    expect: 'ok',
  },
  {
    fact: 'open › file with a slash behind it: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.open('f/', O_RDONLY))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'open › O_TRUNC: the file is empty and still the same file',
    ask: async (fs) => {
      await create(fs, 'f', 'old')
      const { ino } = await fs.stat('f')
      const fd = await fs.open('f', O_WRONLY | O_TRUNC)
      const now = await fs.fstat(fd)
      return { size: now.size, same: now.ino === ino }
    },
    expect: { size: 0, same: true },
  },
  {
    fact: 'open › O_TRUNC with O_RDONLY: truncates as well',
    ask: async (fs) => {
      await create(fs, 'f', 'old')
      await fs.open('f', O_RDONLY | O_TRUNC)
      return content(fs, 'f')
    },
    expect: '',
  },
  {
    fact: 'open › O_TRUNC through a symlink: empties the target',
    ask: async (fs) => {
      await create(fs, 'f', 'old')
      await fs.symlink('f', 's')
      await fs.open('s', O_WRONLY | O_TRUNC)
      return content(fs, 'f')
    },
    expect: '',
  },
  {
    fact: 'open › O_WRONLY: reading is EBADF',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      const fd = await fs.open('f', O_WRONLY)
      return outcome(() => fs.read(fd, 1))
    },
    expect: 'EBADF',
  },
  {
    fact: 'open › O_RDONLY: writing is EBADF and changes nothing',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      const fd = await fs.open('f', O_RDONLY)
      return [await outcome(() => fs.write(fd, bytes('x'))), await content(fs, 'f')]
    },
    expect: ['EBADF', 'content'],
  },
  {
    fact: 'open › O_PATH: fstat answers, reading is EBADF',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      const fd = await fs.open('f', O_PATH)
      return [(await fs.fstat(fd)).size, await outcome(() => fs.read(fd, 1))]
    },
    expect: [7, 'EBADF'],
  },
  {
    fact: 'open › O_PATH and O_NOFOLLOW: a descriptor of the symlink itself',
    ask: async (fs) => {
      await fs.symlink('nowhere', 's')
      return (await fs.fstat(await fs.open('s', O_PATH | O_NOFOLLOW))).kind
    },
    expect: 'symlink',
  },
  {
    fact: 'open › twice: two offsets',
    ask: async (fs) => {
      const one = await createOpen(fs, 'f', 'abcdef')
      const two = await fs.open('f', O_RDONLY)
      await fs.read(one, 4)
      return text(await fs.read(two, 2))
    },
    expect: 'ab',
  },
  {
    fact: 'open › a name that was renamed: the descriptor stays with the file, not with the name',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'first')
      await fs.rename('f', 'g')
      await create(fs, 'f', 'second')
      return text(await fs.read(fd, 100))
    },
    expect: 'first',
  },
  {
    fact: 'open › mode changed to 0 afterwards: the descriptor still reads and writes',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'content')
      await fs.chmod('f', 0)
      await fs.pwrite(fd, bytes('C'), 0)
      return text(await fs.pread(fd, 7, 0))
    },
    expect: 'Content',
  },
  {
    fact: 'open › a descriptor that was never opened: EBADF for every call on it',
    ask: async (fs) => [
      await outcome(() => fs.read(NO_DESCRIPTOR, 1)),
      await outcome(() => fs.write(NO_DESCRIPTOR, bytes('x'))),
      await outcome(() => fs.fstat(NO_DESCRIPTOR)),
      await outcome(() => fs.lseek(NO_DESCRIPTOR, 0, 0)),
      await outcome(() => fs.ftruncate(NO_DESCRIPTOR, 0)),
      await outcome(() => fs.close(NO_DESCRIPTOR)),
    ],
    expect: ['EBADF', 'EBADF', 'EBADF', 'EBADF', 'EBADF', 'EBADF'],
  },
  {
    fact: 'open › O_CREAT on an existing file: opens it, content and mode untouched',
    ask: async (fs) => {
      await create(fs, 'f', 'old', 0o640)
      const fd = await fs.open('f', O_RDWR | O_CREAT, 0o777)
      return [text(await fs.read(fd, 10)), (await fs.fstat(fd)).mode]
    },
    expect: ['old', 0o640],
  },
]
