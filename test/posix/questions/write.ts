import { MiB, O_RDWR, O_WRONLY, SEEK_CUR, SEEK_SET } from '../constants.ts'
import { bytes, content, create, createOpen, moved, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** Bytes that repeat only after a long while, so that a misplaced block is seen. */
function pattern(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, at) => (at * 31 + (at >>> 8) * 7 + (at >>> 16)) & 0xff)
}

async function comesBackEqual(fs: Subject, length: number): Promise<boolean> {
  const fd = await createOpen(fs, `f${length}`)
  await fs.write(fd, pattern(length))
  return Buffer.from(await fs.pread(fd, length + 1, 0)).equals(pattern(length))
}

export const writeQuestions: readonly Question[] = [
  {
    fact: 'write › at the start of a longer file: overwrites and keeps the rest',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      return [await fs.write(fd, bytes('XY')), await content(fs, 'f')]
    },
    expect: [2, 'XYcdef'],
  },
  {
    fact: 'write › across the end: overwrites and grows',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.pwrite(fd, bytes('WXYZ'), 4)
      return content(fs, 'f')
    },
    expect: 'abcdWXYZ',
  },
  {
    fact: 'write › past the end: the gap reads as zeros',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'ab')
      await fs.pwrite(fd, bytes('Z'), 5)
      return content(fs, 'f')
    },
    expect: 'ab\0\0\0Z',
  },
  {
    fact: 'write › twice: the second goes on where the first stopped',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, bytes('ab'))
      await fs.write(fd, bytes('cd'))
      return content(fs, 'f')
    },
    expect: 'abcd',
  },
  {
    fact: 'write › pwrite: leaves the offset alone',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abcdef')
      await fs.pwrite(fd, bytes('Z'), 4)
      return fs.lseek(fd, 0, SEEK_CUR)
    },
    expect: 0,
  },
  {
    fact: 'write › pwrite at a negative offset: EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      return outcome(() => fs.pwrite(fd, bytes('x'), -1))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'write › no bytes past the end: the file does not grow',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [await fs.pwrite(fd, bytes(''), 100), await content(fs, 'f')]
    },
    expect: [0, 'abc'],
  },
  {
    fact: 'write › no bytes: neither mtime nor ctime move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return moved(fs, 'f', () => fs.write(fd, bytes('')))
    },
    expect: 'nothing',
  },
  {
    fact: 'write › the same bytes again: mtime and ctime move all the same',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return moved(fs, 'f', () => fs.write(fd, bytes('abc')))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'write › atime does not move',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.utimens('f', 1_000_000_000n, 'omit')
      await fs.write(fd, bytes('abc'))
      return (await fs.stat('f')).atimeNs
    },
    expect: 1_000_000_000n,
  },
  {
    fact: 'write › content of a file: the directory does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await createOpen(fs, 'd/f')
      return moved(fs, 'd', () => fs.write(fd, bytes('abc')))
    },
    expect: 'nothing',
  },
  {
    fact: 'write › two descriptors: each sees at once what the other wrote',
    ask: async (fs) => {
      const one = await createOpen(fs, 'f', '......')
      const two = await fs.open('f', O_RDWR)
      await fs.pwrite(one, bytes('ab'), 0)
      await fs.pwrite(two, bytes('cd'), 4)
      return [text(await fs.pread(one, 6, 0)), text(await fs.pread(two, 6, 0))]
    },
    expect: ['ab..cd', 'ab..cd'],
  },
  {
    fact: 'write › through one hard link: the other name shows it',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.link('f', 'g')
      await fs.write(fd, bytes('shared'))
      return [await content(fs, 'g'), (await fs.stat('g')).size]
    },
    expect: ['shared', 6],
  },
  {
    fact: 'write › all 256 byte values: come back as they were',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      const all = Uint8Array.from({ length: 256 }, (_, value) => value)
      await fs.write(fd, all)
      return Buffer.from(await fs.pread(fd, 257, 0)).equals(all)
    },
    expect: true,
  },
  {
    fact: 'write › around one page: 4095, 4096 and 4097 bytes come back equal',
    ask: async (fs) => [
      await comesBackEqual(fs, 4095),
      await comesBackEqual(fs, 4096),
      await comesBackEqual(fs, 4097),
    ],
    expect: [true, true, true],
  },
  {
    fact: 'write › around one mebibyte: one byte less, exactly, one byte more come back equal',
    ask: async (fs) => [
      await comesBackEqual(fs, MiB - 1),
      await comesBackEqual(fs, MiB),
      await comesBackEqual(fs, MiB + 1),
    ],
    expect: [true, true, true],
  },
  {
    fact: 'write › nine mebibytes in one call: written whole, come back equal',
    ask: (fs) => comesBackEqual(fs, 9 * MiB),
    expect: true,
  },
  {
    fact: 'write › a few bytes over the border of two mebibytes: only they change',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      const expected = pattern(2 * MiB)
      await fs.write(fd, expected)
      await fs.pwrite(fd, bytes('border'), MiB - 3)
      expected.set(bytes('border'), MiB - 3)
      return Buffer.from(await fs.pread(fd, 2 * MiB + 1, 0)).equals(expected)
    },
    expect: true,
  },
  {
    fact: 'write › backwards, one byte at a time: the file is whole',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      for (const at of [5, 4, 3, 2, 1, 0])
        await fs.pwrite(fd, bytes('abcdef'.slice(at, at + 1)), at)
      return content(fs, 'f')
    },
    expect: 'abcdef',
  },
  {
    fact: 'write › a hundred bytes, one call each: the file is whole',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      for (let at = 0; at < 100; at++) await fs.write(fd, Uint8Array.of(at))
      const all = await fs.pread(fd, 101, 0)
      return all.length === 100 && all.every((value, at) => value === at)
    },
    expect: true,
  },
  {
    fact: 'write › after seeking past the end: the gap reads as zeros',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'ab')
      await fs.lseek(fd, 4, SEEK_SET)
      await fs.write(fd, bytes('Z'))
      return content(fs, 'f')
    },
    expect: 'ab\0\0Z',
  },
  {
    fact: 'write › after another process emptied the file: the offset stays, the gap reads as zeros',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, bytes('abc'))
      await fs.truncate('f', 0)
      await fs.write(fd, bytes('Z'))
      return content(fs, 'f')
    },
    expect: '\0\0\0Z',
  },
  {
    fact: 'write › grows: size and blocks follow',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, pattern(MiB))
      const { size, blocks } = await fs.fstat(fd)
      return { size, someBlocks: blocks > 0 }
    },
    expect: { size: MiB, someBlocks: true },
  },
  {
    fact: 'write › through a symlink: the target changes, the symlink does not',
    ask: async (fs) => {
      await create(fs, 'f', 'abc')
      await fs.symlink('f', 's')
      await fs.write(await fs.open('s', O_WRONLY), bytes('XYZ'))
      return [await content(fs, 'f'), text(await fs.readlink('s'))]
    },
    expect: ['XYZ', 'f'],
  },
]
