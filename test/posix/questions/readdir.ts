import { O_RDONLY, S_IFBLK, S_IFCHR, S_IFIFO, S_IFSOCK, SEEK_CUR, SEEK_SET } from '../constants.ts'
import { create, listRest, moved, names, outcome, outcomes, text } from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

async function createNumbered(fs: Subject, count: number): Promise<void> {
  await fs.mkdir('d')
  for (let number = 0; number < count; number++) await create(fs, `d/file-${number}`)
}

/** Room for a few records: a listing takes several calls. */
const SMALL_BUFFER_BYTES = 256

export const readdirQuestions: readonly Question[] = [
  {
    fact: 'readdir › empty directory: dot and dot-dot, once each',
    ask: async (fs) => {
      await fs.mkdir('d')
      return (await fs.readdir('d')).map((entry) => text(entry.name)).toSorted()
    },
    expect: ['.', '..'],
  },
  {
    fact: 'readdir › dot and dot-dot: the inode numbers of the directory and of its parent',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mkdir('d/e')
      const entries = await fs.readdir('d/e')
      const find = (name: string) => entries.find((entry) => text(entry.name) === name)
      return [
        find('.')?.ino === (await fs.stat('d/e')).ino,
        find('..')?.ino === (await fs.stat('d')).ino,
        find('..')?.kind,
      ]
    },
    expect: [true, true, 'directory'],
  },
  {
    fact: 'readdir › entries: the kind and inode number that lstat tells',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.mkdir('d/e')
      await fs.symlink('e', 'd/s')
      await fs.mknod('d/p', S_IFIFO | 0o600)
      await fs.mknod('d/k', S_IFSOCK | 0o600)
      const seen = []
      for (const { name, kind, ino } of await fs.readdir('d')) {
        const path = `d/${text(name)}`
        if (ino === (await fs.lstat(path)).ino) seen.push(`${path} ${kind}`)
      }
      return seen.toSorted()
    },
    expect: [
      'd/. directory',
      'd/.. directory',
      'd/e directory',
      'd/f file',
      'd/k socket',
      'd/p fifo',
      'd/s symlink',
    ],
  },
  {
    fact: 'readdir › devices: listed as what they are',
    root: true,
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.mknod('d/b', S_IFBLK | 0o600, { major: 7, minor: 1 })
      await fs.mknod('d/c', S_IFCHR | 0o600, { major: 1, minor: 3 })
      const kinds = (await fs.readdir('d')).map((entry) => entry.kind)
      return [kinds.includes('block device'), kinds.includes('character device')]
    },
    expect: [true, true],
  },
  {
    fact: 'readdir › hard links: both names, one inode number',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      await fs.link('d/f', 'd/g')
      const files = (await fs.readdir('d')).filter((entry) => entry.kind === 'file')
      return [files.length, new Set(files.map((entry) => entry.ino)).size]
    },
    expect: [2, 1],
  },
  {
    fact: 'readdir › after create, rename, unlink: names that are there and no others',
    ask: async (fs) => {
      await createNumbered(fs, 4)
      await fs.unlink('d/file-0')
      await fs.rename('d/file-1', 'd/renamed')
      await fs.rename('d/file-2', 'd/file-3')
      return names(fs, 'd')
    },
    expect: ['file-3', 'renamed'],
  },
  {
    fact: 'readdir › a thousand entries in small buffers: each exactly once',
    ask: async (fs) => {
      await createNumbered(fs, 1000)
      const fd = await fs.open('d', O_RDONLY)
      const all = await listRest(fs, fd, SMALL_BUFFER_BYTES)
      return [all.length, new Set(all).size]
    },
    expect: [1002, 1002],
  },
  {
    fact: 'readdir › at the end: stays at the end',
    ask: async (fs) => {
      await fs.mkdir('d')
      const fd = await fs.open('d', O_RDONLY)
      await listRest(fs, fd)
      return (await fs.getdents(fd, 4096)).length
    },
    expect: 0,
  },
  {
    fact: 'readdir › sought back to the start: everything again, new names included',
    ask: async (fs) => {
      await createNumbered(fs, 1)
      const fd = await fs.open('d', O_RDONLY)
      await listRest(fs, fd)
      await create(fs, 'd/new')
      await fs.lseek(fd, 0, SEEK_SET)
      return (await listRest(fs, fd)).toSorted()
    },
    expect: ['.', '..', 'file-0', 'new'],
  },
  {
    fact: 'readdir › each entry unlinked as soon as it is listed: none is missed',
    ask: async (fs) => {
      await createNumbered(fs, 200)
      const fd = await fs.open('d', O_RDONLY)
      for (;;) {
        const entries = await fs.getdents(fd, SMALL_BUFFER_BYTES)
        if (entries.length === 0) break
        for (const { name, kind } of entries) {
          if (kind === 'file') await fs.unlink(`d/${text(name)}`)
        }
      }
      return names(fs, 'd')
    },
    expect: [],
  },
  {
    fact: 'readdir › names made and unlinked meanwhile: those that stayed are listed exactly once',
    ask: async (fs) => {
      await createNumbered(fs, 100)
      const fd = await fs.open('d', O_RDONLY)
      const seen = (await fs.getdents(fd, SMALL_BUFFER_BYTES)).map((entry) => text(entry.name))
      for (let number = 0; number < 50; number++) {
        await fs.unlink(`d/file-${number}`)
        await create(fs, `d/other-${number}`)
      }
      seen.push(...(await listRest(fs, fd, SMALL_BUFFER_BYTES)))
      const stayed = seen.filter((name) => /^file-[5-9][0-9]$/.test(name))
      return [stayed.length, new Set(stayed).size]
    },
    expect: [50, 50],
  },
  {
    fact: 'readdir › each entry renamed away and back as soon as it is listed: the listing ends',
    ask: async (fs) => {
      await createNumbered(fs, 100)
      const fd = await fs.open('d', O_RDONLY)
      const seen = new Set<string>()
      for (let calls = 0; calls < 1000; calls++) {
        const entries = await fs.getdents(fd, SMALL_BUFFER_BYTES)
        if (entries.length === 0) return seen.size
        for (const { name, kind } of entries) {
          if (kind !== 'file') continue
          seen.add(text(name))
          await fs.rename(`d/${text(name)}`, 'd/away')
          await fs.rename('d/away', `d/${text(name)}`)
        }
      }
      return 'it does not end'
    },
    expect: 100,
  },
  {
    fact: 'readdir › sought back to a place in the middle (seekdir): the same names follow, but for those that came or went',
    ask: async (fs) => {
      await createNumbered(fs, 50)
      const fd = await fs.open('d', O_RDONLY)
      await fs.getdents(fd, 2 * SMALL_BUFFER_BYTES)
      const place = await fs.lseek(fd, 0, SEEK_CUR)
      const rest = await listRest(fs, fd, SMALL_BUFFER_BYTES)
      const [first, ...others] = rest
      await fs.unlink(`d/${first}`)
      await create(fs, 'd/new')
      await fs.lseek(fd, place, SEEK_SET)
      const again = await listRest(fs, fd, SMALL_BUFFER_BYTES)
      return again.filter((name) => name !== 'new' && name !== first).join() === others.join()
    },
    expect: true,
  },
  {
    fact: 'readdir › two descriptors of one directory: each has its own place',
    ask: async (fs) => {
      await createNumbered(fs, 3)
      const one = await fs.open('d', O_RDONLY)
      const two = await fs.open('d', O_RDONLY)
      await listRest(fs, one)
      return (await listRest(fs, two)).length
    },
    expect: 5,
  },
  {
    fact: 'readdir › of a file: ENOTDIR; of nothing: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcomes(['f', 'missing'], (path) => fs.readdir(path))
    },
    expect: ['ENOTDIR', 'ENOENT'],
  },
  {
    fact: 'readdir › getdents on a descriptor of a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      const fd = await fs.open('f', O_RDONLY)
      return outcome(() => fs.getdents(fd, 4096))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'readdir › buffer too small for a single record: EINVAL',
    ask: async (fs) => {
      await createNumbered(fs, 1)
      const fd = await fs.open('d', O_RDONLY)
      return outcome(() => fs.getdents(fd, 8))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'readdir › through a symlink: lists the target',
    ask: async (fs) => {
      await createNumbered(fs, 1)
      await fs.symlink('d', 's')
      return names(fs, 's')
    },
    expect: ['file-0'],
  },
  {
    fact: 'readdir › renamed while open: goes on listing the same directory',
    ask: async (fs) => {
      await createNumbered(fs, 1)
      const fd = await fs.open('d', O_RDONLY)
      await fs.rename('d', 'e')
      await fs.mkdir('d')
      return (await listRest(fs, fd)).toSorted()
    },
    expect: ['.', '..', 'file-0'],
  },
  {
    fact: 'readdir › neither mtime nor ctime move',
    ask: async (fs) => {
      await createNumbered(fs, 1)
      return moved(fs, 'd', () => fs.readdir('d'))
    },
    expect: 'nothing',
  },
]
