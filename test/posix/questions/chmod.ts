import { O_PATH, O_RDONLY, S_IFIFO } from '../constants.ts'
import { ANN, BOB, create, createFor, moved, octal, outcome, permissions } from '../observe.ts'
import type { Question } from '../question.ts'

export const chmodQuestions: readonly Question[] = [
  {
    fact: 'chmod › all twelve bits of a file: kept, whatever the umask',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.umask(0o777)
      await fs.chmod('f', 0o7777)
      return permissions(fs, 'f')
    },
    expect: '7777',
  },
  {
    fact: 'chmod › all twelve bits of a directory: kept',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.chmod('d', 0o7777)
      return permissions(fs, 'd')
    },
    expect: '7777',
  },
  {
    fact: 'chmod › to 0 and back: nothing else changes',
    ask: async (fs) => {
      await create(fs, 'f', 'content')
      await fs.chmod('f', 0)
      const without = await permissions(fs, 'f')
      await fs.chmod('f', 0o644)
      return [without, await permissions(fs, 'f'), (await fs.stat('f')).size]
    },
    expect: ['0000', '0644', 7],
  },
  {
    fact: 'chmod › type bits in the mode: ignored',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.chmod('f', S_IFIFO | 0o600)
      const { kind, mode } = await fs.stat('f')
      return [kind, octal(mode)]
    },
    expect: ['file', '0600'],
  },
  {
    fact: 'chmod › ctime moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.chmod('f', 0o600))
    },
    expect: 'ctime',
  },
  {
    fact: 'chmod › to the mode it has: ctime moves all the same',
    ask: async (fs) => {
      await create(fs, 'f', '', 0o644)
      return moved(fs, 'f', () => fs.chmod('f', 0o644))
    },
    expect: 'ctime',
  },
  {
    fact: 'chmod › the directory of the file does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => fs.chmod('d/f', 0o600))
    },
    expect: 'nothing',
  },
  {
    fact: 'chmod › missing: ENOENT; below a file: ENOTDIR; slash behind a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return [
        await outcome(() => fs.chmod('missing', 0o600)),
        await outcome(() => fs.chmod('f/g', 0o600)),
        await outcome(() => fs.chmod('f/', 0o600)),
      ]
    },
    expect: ['ENOENT', 'ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'chmod › fchmod of a descriptor opened for reading: changes',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.fchmod(await fs.open('f', O_RDONLY), 0o640)
      return permissions(fs, 'f')
    },
    expect: '0640',
  },
  {
    fact: 'chmod › fchmod of an O_PATH descriptor: EBADF',
    ask: async (fs) => {
      await create(fs, 'f')
      const fd = await fs.open('f', O_PATH)
      return outcome(() => fs.fchmod(fd, 0o640))
    },
    expect: 'EBADF',
  },
  {
    fact: 'chmod › by the owner: allowed; by a user who may write: EPERM; by root: allowed',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return [
        await outcome(() => fs.as(ANN).chmod('f', 0o666)),
        await outcome(() => fs.as(BOB).chmod('f', 0o666)),
        await outcome(() => fs.chmod('f', 0o666)),
      ]
    },
    expect: ['ok', 'EPERM', 'ok'],
  },
  {
    fact: 'chmod › by a user of the group of the file: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o664)
      return outcome(() => fs.as({ ...BOB, gid: ANN.gid }).chmod('f', 0o666))
    },
    expect: 'EPERM',
  },
  {
    fact: 'chmod › fchmod by another user, through a descriptor they could open: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      const bob = fs.as(BOB)
      const fd = await bob.open('f', O_RDONLY)
      return outcome(() => bob.fchmod(fd, 0o600))
    },
    expect: 'EPERM',
  },
  {
    fact: 'chmod › set-user-id by the owner: kept',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o755)
      await fs.as(ANN).chmod('f', 0o4755)
      return permissions(fs, 'f')
    },
    expect: '4755',
  },
  {
    fact: 'chmod › sticky on a file by an ordinary owner: kept',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o755)
      await fs.as(ANN).chmod('f', 0o1755)
      return permissions(fs, 'f')
    },
    expect: '1755',
  },
]
