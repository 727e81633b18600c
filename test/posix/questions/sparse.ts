import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  GiB,
  MiB,
  SEEK_CUR,
  SEEK_DATA,
  SEEK_HOLE,
} from '../constants.ts'
import { bytes, createOpen, outcome, text } from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

const MEBIBYTE_OF_DATA = new Uint8Array(MiB).fill(0x78)

/** Data from 0 to 1, a hole from 1 to 5, data from 5 to 6, a hole from 6 to 8, all in mebibytes. */
async function createSparse(fs: Subject): Promise<number> {
  const fd = await createOpen(fs, 'f')
  await fs.pwrite(fd, MEBIBYTE_OF_DATA, 0)
  await fs.pwrite(fd, MEBIBYTE_OF_DATA, 5 * MiB)
  await fs.ftruncate(fd, 8 * MiB)
  return fd
}

export const sparseQuestions: readonly Question[] = [
  {
    fact: 'sparse › hole: reads as zeros, from its first byte to its last',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      const hole = await fs.pread(fd, 4 * MiB, MiB)
      return [hole.length, hole.every((byte) => byte === 0)]
    },
    expect: [4 * MiB, true],
  },
  {
    fact: 'sparse › read across both borders of a hole: data, zeros, data',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      return [text(await fs.pread(fd, 4, MiB - 2)), text(await fs.pread(fd, 4, 5 * MiB - 2))]
    },
    expect: ['xx\0\0', '\0\0xx'],
  },
  {
    fact: 'sparse › hole at the end: reads as zeros up to the size and no further',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      return text(await fs.pread(fd, 10, 8 * MiB - 3))
    },
    expect: '\0\0\0',
  },
  {
    fact: 'sparse › holes take no blocks',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.pwrite(fd, MEBIBYTE_OF_DATA, 64 * MiB)
      return (await fs.fstat(fd)).blocks * 512 < 32 * MiB
    },
    expect: true,
  },
  {
    fact: 'sparse › one byte written at a tebibyte: size and byte are right',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.pwrite(fd, bytes('Z'), 1024 * GiB)
      return [(await fs.fstat(fd)).size, text(await fs.pread(fd, 3, 1024 * GiB - 1))]
    },
    expect: [1024 * GiB + 1, '\0Z'],
  },
  {
    fact: 'sparse › bytes written into the middle of a hole: zeros stay on both sides',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      await fs.pwrite(fd, bytes('in'), 3 * MiB)
      return text(await fs.pread(fd, 6, 3 * MiB - 2))
    },
    expect: '\0\0in\0\0',
  },
  {
    fact: 'sparse › SEEK_DATA: inside data the offset itself, inside a hole the next data',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      return [
        await fs.lseek(fd, 0, SEEK_DATA),
        await fs.lseek(fd, 123, SEEK_DATA),
        await fs.lseek(fd, 2 * MiB, SEEK_DATA),
      ]
    },
    expect: [0, 123, 5 * MiB],
  },
  {
    fact: 'sparse › SEEK_HOLE: inside a hole the offset itself, inside data the next hole',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      return [
        await fs.lseek(fd, 0, SEEK_HOLE),
        await fs.lseek(fd, 3 * MiB, SEEK_HOLE),
        await fs.lseek(fd, 5 * MiB, SEEK_HOLE),
      ]
    },
    expect: [MiB, 3 * MiB, 6 * MiB],
  },
  {
    fact: 'sparse › SEEK_HOLE without a hole: the end of the file counts as one',
    ask: async (fs) => fs.lseek(await createOpen(fs, 'f', 'abc'), 1, SEEK_HOLE),
    expect: 3,
  },
  {
    fact: 'sparse › SEEK_DATA in the hole at the end: ENXIO',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      return outcome(() => fs.lseek(fd, 7 * MiB, SEEK_DATA))
    },
    expect: 'ENXIO',
  },
  {
    fact: 'sparse › SEEK_DATA and SEEK_HOLE at the end and past it: ENXIO',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [
        await outcome(() => fs.lseek(fd, 3, SEEK_DATA)),
        await outcome(() => fs.lseek(fd, 3, SEEK_HOLE)),
        await outcome(() => fs.lseek(fd, 4, SEEK_HOLE)),
      ]
    },
    expect: ['ENXIO', 'ENXIO', 'ENXIO'],
  },
  {
    fact: 'sparse › SEEK_DATA and SEEK_HOLE in an empty file: ENXIO',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      return [
        await outcome(() => fs.lseek(fd, 0, SEEK_DATA)),
        await outcome(() => fs.lseek(fd, 0, SEEK_HOLE)),
      ]
    },
    expect: ['ENXIO', 'ENXIO'],
  },
  {
    fact: 'sparse › SEEK_DATA and SEEK_HOLE at a negative offset: ENXIO, not EINVAL',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'abc')
      return [
        await outcome(() => fs.lseek(fd, -1, SEEK_DATA)),
        await outcome(() => fs.lseek(fd, -1, SEEK_HOLE)),
      ]
    },
    expect: ['ENXIO', 'ENXIO'],
  },
  {
    fact: 'sparse › SEEK_DATA and SEEK_HOLE: move the offset like any seek',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      await fs.lseek(fd, 2 * MiB, SEEK_DATA)
      const data = await fs.lseek(fd, 0, SEEK_CUR)
      await fs.lseek(fd, 0, SEEK_HOLE)
      return [data, await fs.lseek(fd, 0, SEEK_CUR)]
    },
    expect: [5 * MiB, MiB],
  },
  {
    fact: 'sparse › a file of nothing but a hole: no data, and a hole at once',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.ftruncate(fd, 4 * MiB)
      return [await outcome(() => fs.lseek(fd, 0, SEEK_DATA)), await fs.lseek(fd, 0, SEEK_HOLE)]
    },
    expect: ['ENXIO', 0],
  },
  {
    fact: 'sparse › the head truncated away: what was data is a hole after growing again',
    ask: async (fs) => {
      const fd = await createSparse(fs)
      await fs.ftruncate(fd, 0)
      await fs.ftruncate(fd, 8 * MiB)
      return outcome(() => fs.lseek(fd, 0, SEEK_DATA))
    },
    expect: 'ENXIO',
  },
  {
    fact: 'sparse › punched out: SEEK_HOLE and SEEK_DATA see the new hole',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, new Uint8Array(6 * MiB).fill(0x78))
      await fs.fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * MiB, 2 * MiB)
      return [await fs.lseek(fd, 0, SEEK_HOLE), await fs.lseek(fd, 2 * MiB, SEEK_DATA)]
    },
    expect: [2 * MiB, 4 * MiB],
  },
]
