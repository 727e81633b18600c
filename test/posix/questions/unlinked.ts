import { FALLOC_FL_KEEP_SIZE, FALLOC_FL_PUNCH_HOLE, O_RDONLY } from '../constants.ts'
import {
  bytes,
  content,
  create,
  createOpen,
  LONG_AGO,
  movedOpen,
  names,
  octal,
  text,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

async function createUnlinked(fs: Subject, contentThen = ''): Promise<number> {
  const fd = await createOpen(fs, 'f', contentThen)
  await fs.unlink('f')
  return fd
}

export const unlinkedQuestions: readonly Question[] = [
  {
    fact: 'unlinked › still open: fstat shows no link, the size and the kind it had',
    ask: async (fs) => {
      const { nlink, size, kind } = await fs.fstat(await createUnlinked(fs, 'content'))
      return { nlink, size, kind }
    },
    expect: { nlink: 0, size: 7, kind: 'file' },
  },
  {
    fact: 'unlinked › still open: reads what it held',
    ask: async (fs) => text(await fs.read(await createUnlinked(fs, 'content'), 10)),
    expect: 'content',
  },
  {
    fact: 'unlinked › still open: can be written and read back',
    ask: async (fs) => {
      const fd = await createUnlinked(fs)
      await fs.write(fd, bytes('later'))
      return text(await fs.pread(fd, 10, 0))
    },
    expect: 'later',
  },
  {
    fact: 'unlinked › still open: can be cut, grown and punched',
    ask: async (fs) => {
      const fd = await createUnlinked(fs, 'abcdef')
      await fs.ftruncate(fd, 4)
      await fs.ftruncate(fd, 6)
      await fs.fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 1, 1)
      return text(await fs.pread(fd, 10, 0))
    },
    expect: 'a\0cd\0\0',
  },
  {
    fact: 'unlinked › still open: mode and times can be changed',
    ask: async (fs) => {
      const fd = await createUnlinked(fs)
      await fs.fchmod(fd, 0o600)
      await fs.futimens(fd, LONG_AGO, LONG_AGO)
      const { mode, mtimeNs } = await fs.fstat(fd)
      return [octal(mode), mtimeNs === LONG_AGO]
    },
    expect: ['0600', true],
  },
  {
    fact: 'unlinked › last link goes: ctime moves, mtime does not',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      return movedOpen(fs, fd, () => fs.unlink('f'))
    },
    expect: 'ctime',
  },
  {
    fact: 'unlinked › name taken again: two files that do not disturb each other',
    ask: async (fs) => {
      const fd = await createUnlinked(fs, 'first')
      await create(fs, 'f', 'second')
      await fs.pwrite(fd, bytes('FIRST'), 0)
      return [text(await fs.pread(fd, 10, 0)), await content(fs, 'f')]
    },
    expect: ['FIRST', 'second'],
  },
  {
    fact: 'unlinked › name taken again while open: another inode number',
    ask: async (fs) => {
      const fd = await createUnlinked(fs)
      await create(fs, 'f')
      return (await fs.fstat(fd)).ino === (await fs.stat('f')).ino
    },
    expect: false,
  },
  {
    fact: 'unlinked › open twice: one descriptor closed, the other still reads',
    ask: async (fs) => {
      const one = await createOpen(fs, 'f', 'content')
      const two = await fs.open('f', O_RDONLY)
      await fs.unlink('f')
      await fs.close(one)
      return text(await fs.read(two, 10))
    },
    expect: 'content',
  },
  {
    fact: 'unlinked › only one of its names: the open file and the other name are one file',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f', 'content')
      await fs.link('f', 'g')
      await fs.unlink('f')
      await fs.pwrite(fd, bytes('C'), 0)
      return [(await fs.fstat(fd)).nlink, await content(fs, 'g')]
    },
    expect: [1, 'Content'],
  },
  {
    fact: 'unlinked › its directory can be removed while it is open',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await createOpen(fs, 'd/f', 'content')
      await fs.unlink('d/f')
      await fs.rmdir('d')
      return [await names(fs, '.'), text(await fs.read(fd, 10))]
    },
    expect: [[], 'content'],
  },
  {
    fact: 'unlinked › renamed over while open: the old content stays readable, no link left',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'old', 'old')
      await create(fs, 'new', 'new')
      await fs.rename('new', 'old')
      return [text(await fs.read(fd, 10)), (await fs.fstat(fd)).nlink, await content(fs, 'old')]
    },
    expect: ['old', 0, 'new'],
  },
  {
    fact: 'unlinked › can be the source and the end of copy-range',
    ask: async (fs) => {
      const from = await createUnlinked(fs, 'content')
      const to = await createUnlinked(fs)
      await fs.copyFileRange(from, 0, to, 0, 7)
      return text(await fs.pread(to, 10, 0))
    },
    expect: 'content',
  },
]
