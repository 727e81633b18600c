import { GiB, MiB, O_APPEND, O_RDONLY, O_TRUNC, O_WRONLY, S_IFIFO, SEEK_CUR } from '../constants.ts'
import { bytes, content, create, createOpen, moved, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'

export const truncateQuestions: readonly Question[] = [
  {
    fact: 'truncate › larger: the gap reads as zeros',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      await fs.truncate('f', 6)
      return content(fs, 'f')
    },
    expect: 'abc\0\0\0',
  },
  {
    fact: 'truncate › smaller: the head stays',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.truncate('f', 2)
      return content(fs, 'f')
    },
    expect: 'ab',
  },
  {
    fact: 'truncate › to nothing: an empty file without blocks',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.truncate('f', 0)
      const { size, blocks } = await fs.stat('f')
      return { size, blocks }
    },
    expect: { size: 0, blocks: 0 },
  },
  {
    fact: 'truncate › smaller, then larger: the old bytes do not come back',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.truncate('f', 2)
      await fs.truncate('f', 6)
      return content(fs, 'f')
    },
    expect: 'ab\0\0\0\0',
  },
  {
    fact: 'truncate › smaller by a byte at the border of a page and back: one zero',
    ask: async (fs) => {
      await create(fs, 'f', 'x'.repeat(4096))
      await fs.truncate('f', 4095)
      await fs.truncate('f', 4096)
      return (await content(fs, 'f')).slice(4094)
    },
    expect: 'x\0',
  },
  {
    fact: 'truncate › smaller inside several mebibytes, then a write past the end: zeros between',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, new Uint8Array(3 * MiB).fill(0x78))
      await fs.ftruncate(fd, MiB + 5)
      await fs.pwrite(fd, bytes('end'), 2 * MiB)
      const gap = await fs.pread(fd, MiB - 5, MiB + 5)
      return [gap.every((byte) => byte === 0), text(await fs.pread(fd, 10, 2 * MiB))]
    },
    expect: [true, 'end'],
  },
  {
    fact: 'truncate › an empty file to 10000 bytes, then four written at 9000: all in their places',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.ftruncate(fd, 10_000)
      await fs.pwrite(fd, bytes('four'), 9000)
      const all = await content(fs, 'f')
      return { length: all.length, at: all.indexOf('four'), zeros: all.replaceAll('\0', '').length }
    },
    expect: { length: 10_000, at: 9000, zeros: 4 },
  },
  {
    fact: 'truncate › to one tebibyte: allowed, and takes no space',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.truncate('f', 1024 * GiB)
      const { size, blocks } = await fs.stat('f')
      return { size, little: blocks < 2048 }
    },
    expect: { size: 1024 * GiB, little: true },
  },
  {
    fact: 'truncate › negative length: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [
        await outcome(() => fs.truncate('f', -1)),
        await outcome(() => fs.ftruncate(fd, -1)),
        await content(fs, 'f'),
      ]
    },
    expect: ['EINVAL', 'EINVAL', 'abc'],
  },
  {
    fact: 'truncate › missing file: ENOENT, and it is not made',
    ask: async (fs) => [
      await outcome(() => fs.truncate('f', 1)),
      await outcome(() => fs.lstat('f')),
    ],
    expect: ['ENOENT', 'ENOENT'],
  },
  {
    fact: 'truncate › directory: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      return outcome(() => fs.truncate('d', 0))
    },
    expect: 'EISDIR',
  },
  {
    fact: 'truncate › FIFO: EINVAL',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      return outcome(() => fs.truncate('p', 0))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'truncate › through a symlink: cuts the target',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.symlink('f', 's')
      await fs.truncate('s', 3)
      return content(fs, 'f')
    },
    expect: 'abc',
  },
  {
    fact: 'truncate › through a dangling symlink: ENOENT, and the target is not made',
    ask: async (fs) => {
      await fs.symlink('f', 's')
      return [await outcome(() => fs.truncate('s', 3)), await outcome(() => fs.lstat('f'))]
    },
    expect: ['ENOENT', 'ENOENT'],
  },
  {
    fact: 'truncate › file with a slash behind it: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      return outcome(() => fs.truncate('f/', 0))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'truncate › through one hard link: the other name shows it',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.link('f', 'g')
      await fs.truncate('f', 3)
      return content(fs, 'g')
    },
    expect: 'abc',
  },
  {
    fact: 'truncate › ftruncate of a descriptor opened for reading: EINVAL',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      const fd = await fs.open('f', O_RDONLY)
      return outcome(() => fs.ftruncate(fd, 0))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'truncate › ftruncate of an open directory: EINVAL',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      return outcome(() => fs.ftruncate(fd, 0))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'truncate › ftruncate of a descriptor opened with O_APPEND: cuts',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      await fs.ftruncate(await fs.open('f', O_WRONLY | O_APPEND), 2)
      return content(fs, 'f')
    },
    expect: 'ab',
  },
  {
    fact: 'truncate › below the offset of a descriptor: the offset stays',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.read(fd, 5)
      await fs.ftruncate(fd, 1)
      return fs.lseek(fd, 0, SEEK_CUR)
    },
    expect: 5,
  },
  {
    fact: 'truncate › another size: mtime and ctime move',
    ask: async (fs) => {
      await create(fs, 'f', 'abcdef')
      return [
        await moved(fs, 'f', () => fs.truncate('f', 3)),
        await moved(fs, 'f', () => fs.truncate('f', 9)),
      ]
    },
    expect: ['mtime and ctime', 'mtime and ctime'],
  },
  {
    fact: 'truncate › to the size it has, by descriptor: mtime and ctime move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return moved(fs, 'f', () => fs.ftruncate(fd, 3))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'truncate › O_TRUNC of a file that is empty already: mtime and ctime move',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.open('f', O_WRONLY | O_TRUNC))
    },
    expect: 'mtime and ctime',
  },
]
