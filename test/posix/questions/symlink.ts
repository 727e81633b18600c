import { O_CREAT, O_RDONLY, O_WRONLY } from '../constants.ts'
import {
  content,
  create,
  LONG_AGO,
  moved,
  names,
  outcome,
  outcomes,
  permissions,
  text,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** `s0` → `f`, `s1` → `s0` and so on: opening the last one follows `length` symlinks. */
async function createChain(fs: Subject, length: number): Promise<string> {
  await create(fs, 'f', 'content')
  for (let number = 0; number < length; number++) {
    await fs.symlink(number === 0 ? 'f' : `s${number - 1}`, `s${number}`)
  }
  return `s${length - 1}`
}

export const symlinkQuestions: readonly Question[] = [
  {
    fact: 'symlink › new: its size is the length of the target, its mode 0777 whatever the umask',
    ask: async (fs) => {
      await fs.umask(0o077)
      await fs.symlink('target', 's')
      const { kind, size, mode, nlink } = await fs.lstat('s')
      return { kind, size, mode, nlink }
    },
    expect: { kind: 'symlink', size: 6, mode: 0o777, nlink: 1 },
  },
  {
    fact: 'symlink › target: any text, kept to the byte and never tidied',
    ask: async (fs) => {
      await fs.symlink('/absolute//with/./dots/../and slash/', 's')
      return text(await fs.readlink('s'))
    },
    expect: '/absolute//with/./dots/../and slash/',
  },
  {
    fact: 'symlink › target that is no UTF-8: the same bytes come back',
    ask: async (fs) => {
      await fs.symlink(Uint8Array.of(0xff, 0xfe, 0x80, 0x0a), 's')
      return Array.from(await fs.readlink('s'))
    },
    expect: [0xff, 0xfe, 0x80, 0x0a],
  },
  {
    fact: 'symlink › target of 4095 bytes: kept',
    ask: async (fs) => {
      await fs.symlink('x'.repeat(4095), 's')
      return (await fs.readlink('s')).length
    },
    expect: 4095,
  },
  {
    fact: 'symlink › target of 4096 bytes: ENAMETOOLONG',
    ask: (fs) => outcome(() => fs.symlink('x'.repeat(4096), 's')),
    expect: 'ENAMETOOLONG',
  },
  {
    fact: 'symlink › around 60 bytes, where file systems change their form: kept',
    ask: async (fs) => {
      const lengths = []
      for (const length of [1, 59, 60, 61, 255, 256]) {
        await fs.symlink('x'.repeat(length), `s${length}`)
        lengths.push((await fs.readlink(`s${length}`)).length)
      }
      return lengths
    },
    expect: [1, 59, 60, 61, 255, 256],
  },
  {
    fact: 'symlink › empty target: ENOENT',
    ask: (fs) => outcome(() => fs.symlink('', 's')),
    expect: 'ENOENT',
  },
  {
    fact: 'symlink › onto a file, a directory, a dangling symlink: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      await fs.symlink('missing', 's')
      return outcomes(['f', 'd', 's'], (path) => fs.symlink('x', path))
    },
    expect: ['EEXIST', 'EEXIST', 'EEXIST'],
  },
  {
    fact: 'symlink › new name with a slash behind it: ENOENT',
    ask: async (fs) => [await outcome(() => fs.symlink('x', 's/')), await names(fs, '.')],
    expect: ['ENOENT', []],
  },
  {
    fact: 'symlink › mtime and ctime of the directory move',
    ask: async (fs) => {
      await fs.mkdir('d')
      return moved(fs, 'd', () => fs.symlink('x', 'd/s'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'symlink › readlink of a file, a directory: EINVAL; of nothing: ENOENT',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.mkdir('d')
      return outcomes(['f', 'd', 'missing'], (path) => fs.readlink(path))
    },
    expect: ['EINVAL', 'EINVAL', 'ENOENT'],
  },
  {
    fact: 'symlink › readlink with a slash behind the name: follows, so EINVAL on the directory',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return outcome(() => fs.readlink('s/'))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'symlink › dangling: lstat shows it, stat and open are ENOENT',
    ask: async (fs) => {
      await fs.symlink('missing', 's')
      return [
        (await fs.lstat('s')).kind,
        await outcome(() => fs.stat('s')),
        await outcome(() => fs.open('s', O_RDONLY)),
      ]
    },
    expect: ['symlink', 'ENOENT', 'ENOENT'],
  },
  {
    fact: 'symlink › made before its target: follows as soon as the target is there',
    ask: async (fs) => {
      await fs.symlink('f', 's')
      await create(fs, 'f', 'content')
      return content(fs, 's')
    },
    expect: 'content',
  },
  {
    fact: 'symlink › relative target: seen from the directory of the symlink',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f', 'outer')
      await create(fs, 'd/f', 'inner')
      await fs.symlink('f', 'd/s')
      await fs.symlink('../f', 'd/up')
      return [await content(fs, 'd/s'), await content(fs, 'd/up')]
    },
    expect: ['inner', 'outer'],
  },
  {
    fact: 'symlink › moved to another directory: its relative target means another place',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'f', 'outer')
      await create(fs, 'd/f', 'inner')
      await fs.symlink('f', 's')
      await fs.rename('s', 'd/s')
      return content(fs, 'd/s')
    },
    expect: 'inner',
  },
  {
    fact: 'symlink › dot-dot behind a symlink: the parent of the target, not of the symlink',
    ask: async (fs) => {
      await fs.mkdir('a')
      await fs.mkdir('a/b')
      await create(fs, 'a/f', 'of the target')
      await create(fs, 'f', 'of the symlink')
      await fs.symlink('a/b', 's')
      return content(fs, 's/../f')
    },
    expect: 'of the target',
  },
  {
    fact: 'symlink › lstat with a slash behind the name: follows to the directory',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d', 's')
      return (await fs.lstat('s/')).kind
    },
    expect: 'directory',
  },
  {
    fact: 'symlink › to a file, with a slash behind the name: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      return [await outcome(() => fs.lstat('s/')), await outcome(() => fs.open('s/', O_RDONLY))]
    },
    expect: ['ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'symlink › target with a slash behind it: only a directory will do',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f/', 's')
      return outcome(() => fs.stat('s'))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'symlink › to itself: stat, open, chmod and creating are ELOOP, lstat is not',
    ask: async (fs) => {
      await fs.symlink('s', 's')
      return [
        await outcome(() => fs.stat('s')),
        await outcome(() => fs.open('s', O_RDONLY)),
        await outcome(() => fs.chmod('s', 0)),
        await outcome(() => fs.open('s', O_WRONLY | O_CREAT)),
        await outcome(() => fs.lstat('s')),
      ]
    },
    expect: ['ELOOP', 'ELOOP', 'ELOOP', 'ELOOP', 'ok'],
  },
  {
    fact: 'symlink › two that point at each other: ELOOP, in the middle of a path too',
    ask: async (fs) => {
      await fs.symlink('b', 'a')
      await fs.symlink('a', 'b')
      return [await outcome(() => fs.stat('a')), await outcome(() => fs.lstat('b/f'))]
    },
    expect: ['ELOOP', 'ELOOP'],
  },
  {
    fact: 'symlink › chain of 40: followed to its end',
    ask: async (fs) => content(fs, await createChain(fs, 40)),
    expect: 'content',
  },
  {
    fact: 'symlink › chain of 41: ELOOP',
    ask: async (fs) => {
      const last = await createChain(fs, 41)
      return outcome(() => fs.stat(last))
    },
    expect: 'ELOOP',
  },
  {
    fact: 'symlink › 40 components that are symlinks: followed; 41: ELOOP',
    ask: async (fs) => {
      await fs.symlink('.', 's')
      const path = (count: number): string => Array(count).fill('s').join('/')
      return [await outcome(() => fs.stat(path(40))), await outcome(() => fs.stat(path(41)))]
    },
    expect: ['ok', 'ELOOP'],
  },
  {
    fact: 'symlink › chmod: changes the target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.chmod('s', 0o600)
      return [await permissions(fs, 'f'), await permissions(fs, 's')]
    },
    expect: ['0600', '0777'],
  },
  {
    fact: 'symlink › utimens without following: times of the symlink change, not of the target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.utimens('s', LONG_AGO, LONG_AGO, { followSymlinks: false })
      return [(await fs.lstat('s')).mtimeNs === LONG_AGO, (await fs.stat('f')).mtimeNs === LONG_AGO]
    },
    expect: [true, false],
  },
  {
    fact: 'symlink › lchown: changes the symlink; chown: its target',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.lchown('s', 1001, 1001)
      await fs.chown('s', 1002, 1002)
      return [(await fs.lstat('s')).uid, (await fs.stat('f')).uid]
    },
    expect: [1001, 1002],
  },
  {
    fact: 'symlink › chown of a dangling one: ENOENT; lchown: changes it',
    root: true,
    ask: async (fs) => {
      await fs.symlink('missing', 's')
      return [
        await outcome(() => fs.chown('s', 1001, 1001)),
        await outcome(() => fs.lchown('s', 1001, 1001)),
      ]
    },
    expect: ['ENOENT', 'ok'],
  },
]
