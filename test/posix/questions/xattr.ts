import { O_RDONLY, O_RDWR, S_IFIFO, XATTR_CREATE, XATTR_REPLACE } from '../constants.ts'
import {
  ANN,
  BOB,
  bytes,
  content,
  create,
  createFor,
  createOpen,
  directoryFor,
  moved,
  outcome,
  text,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Path, Subject } from '../subject.ts'

/** Only those that a question may set: security modules of the host add their own. */
async function userXattrs(fs: Subject, path: Path): Promise<readonly string[]> {
  return (await fs.listxattr(path)).filter((name) => name.startsWith('user.')).toSorted()
}

export const xattrQuestions: readonly Question[] = [
  {
    fact: 'xattr › set and got: the same bytes, zeros and no-UTF-8 included',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', Uint8Array.of(0, 255, 254, 10, 0))
      return Array.from(await fs.getxattr('f', 'user.a'))
    },
    expect: [0, 255, 254, 10, 0],
  },
  {
    fact: 'xattr › empty value: is there, and empty',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes(''))
      return [text(await fs.getxattr('f', 'user.a')), await userXattrs(fs, 'f')]
    },
    expect: ['', ['user.a']],
  },
  {
    fact: 'xattr › value of 2000 bytes: comes back whole',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('x'.repeat(2000)))
      return (await fs.getxattr('f', 'user.a')).length
    },
    expect: 2000,
  },
  {
    fact: 'xattr › value of 65537 bytes: E2BIG',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.setxattr('f', 'user.a', new Uint8Array(65_537)))
    },
    expect: 'E2BIG',
  },
  {
    fact: 'xattr › set again: replaced, shorter or longer',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('middle'))
      await fs.setxattr('f', 'user.a', bytes('x'))
      const shorter = text(await fs.getxattr('f', 'user.a'))
      await fs.setxattr('f', 'user.a', bytes('much longer'))
      return [shorter, text(await fs.getxattr('f', 'user.a'))]
    },
    expect: ['x', 'much longer'],
  },
  {
    fact: 'xattr › CREATE on an existing name: EEXIST, and the value stays',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('old'), XATTR_CREATE)
      return [
        await outcome(() => fs.setxattr('f', 'user.a', bytes('new'), XATTR_CREATE)),
        text(await fs.getxattr('f', 'user.a')),
      ]
    },
    expect: ['EEXIST', 'old'],
  },
  {
    fact: 'xattr › REPLACE of a missing name: ENODATA, and it is not made',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.setxattr('f', 'user.a', bytes('new'), XATTR_REPLACE)),
        await userXattrs(fs, 'f'),
      ]
    },
    expect: ['ENODATA', []],
  },
  {
    fact: 'xattr › unknown flag: EINVAL',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.setxattr('f', 'user.a', bytes('x'), 8))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'xattr › missing name, got or removed: ENODATA',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.getxattr('f', 'user.a')),
        await outcome(() => fs.removexattr('f', 'user.a')),
      ]
    },
    expect: ['ENODATA', 'ENODATA'],
  },
  {
    fact: 'xattr › missing file: ENOENT',
    ask: async (fs) => [
      await outcome(() => fs.getxattr('f', 'user.a')),
      await outcome(() => fs.setxattr('f', 'user.a', bytes('x'))),
      await outcome(() => fs.listxattr('f')),
      await outcome(() => fs.removexattr('f', 'user.a')),
    ],
    expect: ['ENOENT', 'ENOENT', 'ENOENT', 'ENOENT'],
  },
  {
    fact: 'xattr › removed: gone, the others stay',
    ask: async (fs) => {
      await create(fs, 'f')
      for (const name of ['user.a', 'user.b', 'user.c']) await fs.setxattr('f', name, bytes('x'))
      await fs.removexattr('f', 'user.b')
      return userXattrs(fs, 'f')
    },
    expect: ['user.a', 'user.c'],
  },
  {
    fact: 'xattr › name of 255 bytes: kept; of 256: ERANGE',
    ask: async (fs) => {
      await create(fs, 'f')
      const longest = `user.${'x'.repeat(250)}`
      await fs.setxattr('f', longest, bytes('x'))
      return [
        (await userXattrs(fs, 'f'))[0]?.length,
        await outcome(() => fs.setxattr('f', `${longest}x`, bytes('x'))),
      ]
    },
    expect: [255, 'ERANGE'],
  },
  {
    fact: 'xattr › name with nothing behind its prefix: EINVAL; empty name: ERANGE',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.setxattr('f', 'user.', bytes('x'))),
        await outcome(() => fs.setxattr('f', '', bytes('x'))),
      ]
    },
    expect: ['EINVAL', 'ERANGE'],
  },
  {
    fact: 'xattr › name without a known prefix: EOPNOTSUPP',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.setxattr('f', 'unknown.a', bytes('x'))),
        await outcome(() => fs.getxattr('f', 'unknown.a')),
        await outcome(() => fs.setxattr('f', 'plain', bytes('x'))),
      ]
    },
    expect: ['EOPNOTSUPP', 'EOPNOTSUPP', 'EOPNOTSUPP'],
  },
  {
    fact: 'xattr › names: upper and lower case are two, UTF-8 and spaces are kept',
    ask: async (fs) => {
      await create(fs, 'f')
      for (const name of ['user.A', 'user.a', 'user.ä b']) await fs.setxattr('f', name, bytes(name))
      return [await userXattrs(fs, 'f'), text(await fs.getxattr('f', 'user.A'))]
    },
    expect: [['user.A', 'user.a', 'user.ä b'], 'user.A'],
  },
  {
    fact: 'xattr › fifty on one file: all listed, each with its own value',
    ask: async (fs) => {
      await create(fs, 'f')
      for (let number = 10; number < 60; number++) {
        await fs.setxattr('f', `user.${number}`, bytes(`${number}`))
      }
      const listed = await userXattrs(fs, 'f')
      return [listed.length, listed[0], listed[49], text(await fs.getxattr('f', 'user.33'))]
    },
    expect: [50, 'user.10', 'user.59', '33'],
  },
  {
    fact: 'xattr › buffer one byte too small: ERANGE; of exactly the size: the value',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('value'))
      return [
        await outcome(() => fs.getxattr('f', 'user.a', 4)),
        text(await fs.getxattr('f', 'user.a', 5)),
      ]
    },
    expect: ['ERANGE', 'value'],
  },
  {
    fact: 'xattr › of a directory: kept',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.setxattr('d', 'user.a', bytes('value'))
      return text(await fs.getxattr('d', 'user.a'))
    },
    expect: 'value',
  },
  {
    fact: 'xattr › through a symlink: that of the target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.setxattr('s', 'user.a', bytes('value'))
      return text(await fs.getxattr('f', 'user.a'))
    },
    expect: 'value',
  },
  {
    fact: 'xattr › user name on a symlink itself: setting is EPERM, getting ENODATA, none listed',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('of the target'))
      await fs.symlink('f', 's')
      return [
        await outcome(() => fs.lsetxattr('s', 'user.a', bytes('x'))),
        await outcome(() => fs.lgetxattr('s', 'user.a')),
        (await fs.llistxattr('s')).filter((name) => name.startsWith('user.')),
      ]
    },
    expect: ['EPERM', 'ENODATA', []],
  },
  {
    fact: 'xattr › user name on a FIFO: setting is EPERM, getting ENODATA',
    ask: async (fs) => {
      await fs.mknod('p', S_IFIFO | 0o600)
      return [
        await outcome(() => fs.setxattr('p', 'user.a', bytes('x'))),
        await outcome(() => fs.getxattr('p', 'user.a')),
      ]
    },
    expect: ['EPERM', 'ENODATA'],
  },
  {
    fact: 'xattr › by descriptor: opened for reading is enough to set, if the file may be written',
    ask: async (fs) => {
      await create(fs, 'f')
      const fd = await fs.open('f', O_RDONLY)
      await fs.fsetxattr(fd, 'user.a', bytes('value'))
      return text(await fs.fgetxattr(fd, 'user.a'))
    },
    expect: 'value',
  },
  {
    fact: 'xattr › of a file without a name left: set and got by descriptor',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('before'))
      await fs.unlink('f')
      await fs.fsetxattr(fd, 'user.b', bytes('after'))
      return [text(await fs.fgetxattr(fd, 'user.a')), text(await fs.fgetxattr(fd, 'user.b'))]
    },
    expect: ['before', 'after'],
  },
  {
    fact: 'xattr › renamed, linked, truncated: stays',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.setxattr('f', 'user.a', bytes('value'))
      await fs.rename('f', 'g')
      await fs.link('g', 'h')
      await fs.truncate('h', 0)
      return [text(await fs.getxattr('h', 'user.a')), await content(fs, 'g')]
    },
    expect: ['value', ''],
  },
  {
    fact: 'xattr › renamed over: those of the replaced file are gone',
    ask: async (fs) => {
      await create(fs, 'f')
      await create(fs, 'g')
      await fs.setxattr('g', 'user.a', bytes('old'))
      await fs.rename('f', 'g')
      return userXattrs(fs, 'g')
    },
    expect: [],
  },
  {
    fact: 'xattr › file made anew under the same name: has none',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('old'))
      await fs.unlink('f')
      await create(fs, 'f')
      return userXattrs(fs, 'f')
    },
    expect: [],
  },
  {
    fact: 'xattr › set or removed: ctime moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await moved(fs, 'f', () => fs.setxattr('f', 'user.a', bytes('x'))),
        await moved(fs, 'f', () => fs.removexattr('f', 'user.a')),
      ]
    },
    expect: ['ctime', 'ctime'],
  },
  {
    fact: 'xattr › got, listed, or refused: neither mtime nor ctime move',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.setxattr('f', 'user.a', bytes('x'))
      return moved(fs, 'f', async () => {
        await fs.getxattr('f', 'user.a')
        await fs.listxattr('f')
        await outcome(() => fs.setxattr('f', 'user.a', bytes('y'), XATTR_CREATE))
      })
    },
    expect: 'nothing',
  },
  {
    fact: 'xattr › getting needs permission to read, setting and removing to write: EACCES',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'readable', 0o644)
      await createFor(fs, ANN, 'writable', 0o622)
      for (const path of ['readable', 'writable']) await fs.setxattr(path, 'user.a', bytes('x'))
      const bob = fs.as(BOB)
      return [
        await outcome(() => bob.getxattr('readable', 'user.a')),
        await outcome(() => bob.setxattr('readable', 'user.a', bytes('y'))),
        await outcome(() => bob.removexattr('readable', 'user.a')),
        await outcome(() => bob.getxattr('writable', 'user.a')),
        await outcome(() => bob.setxattr('writable', 'user.a', bytes('y'))),
      ]
    },
    expect: ['ok', 'EACCES', 'EACCES', 'EACCES', 'ok'],
  },
  {
    fact: 'xattr › listing needs no permission on the file',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0)
      await fs.setxattr('f', 'user.a', bytes('x'))
      return userXattrs(fs.as(BOB), 'f')
    },
    expect: ['user.a'],
  },
  {
    fact: 'xattr › by descriptor: the mode counts, not how it was opened',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      const bob = fs.as(BOB)
      const fd = await bob.open('f', O_RDWR)
      await fs.chmod('f', 0o644)
      return outcome(() => bob.fsetxattr(fd, 'user.a', bytes('x')))
    },
    expect: 'EACCES',
  },
  {
    fact: 'xattr › of a sticky directory that others may write: only its owner may set, EPERM',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o1777)
      return [
        await outcome(() => fs.as(BOB).setxattr('d', 'user.a', bytes('x'))),
        await outcome(() => fs.as(ANN).setxattr('d', 'user.a', bytes('x'))),
      ]
    },
    expect: ['EPERM', 'ok'],
  },
]
