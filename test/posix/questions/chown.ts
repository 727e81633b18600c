import { O_RDONLY } from '../constants.ts'
import {
  ANN,
  ANN_IN_TEAM,
  BOB,
  create,
  createFor,
  directoryFor,
  moved,
  outcome,
  outcomes,
  owner,
  TEAM,
} from '../observe.ts'
import type { Question } from '../question.ts'

export const chownQuestions: readonly Question[] = [
  {
    fact: 'chown › by root: user and group change',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.chown('f', 1001, 2000)
      return owner(fs, 'f')
    },
    expect: '1001:2000',
  },
  {
    fact: 'chown › -1: that one stays',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f')
      await fs.chown('f', -1, 5000)
      const group = await owner(fs, 'f')
      await fs.chown('f', 5001, -1)
      return [group, await owner(fs, 'f')]
    },
    expect: ['1001:5000', '5001:5000'],
  },
  {
    fact: 'chown › ids above 65535: kept',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.chown('f', 3_000_000_000, 65_536)
      return owner(fs, 'f')
    },
    expect: '3000000000:65536',
  },
  {
    fact: 'chown › fchown of a descriptor opened for reading: changes',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.fchown(await fs.open('f', O_RDONLY), 1001, 1001)
      return owner(fs, 'f')
    },
    expect: '1001:1001',
  },
  {
    fact: 'chown › missing: ENOENT; below a file: ENOTDIR',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      return outcomes(['missing', 'f/g'], (path) => fs.chown(path, 1, 1))
    },
    expect: ['ENOENT', 'ENOTDIR'],
  },
  {
    fact: 'chown › ctime moves, mtime does not',
    root: true,
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.chown('f', 1001, 1001))
    },
    expect: 'ctime',
  },
  {
    fact: 'chown › to the owner it has: ctime moves all the same',
    ask: async (fs) => {
      await create(fs, 'f')
      const { uid, gid } = await fs.stat('f')
      return moved(fs, 'f', () => fs.chown('f', uid, gid))
    },
    expect: 'ctime',
  },
  {
    fact: 'chown › -1 and -1: ctime moves all the same',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.chown('f', -1, -1))
    },
    expect: 'ctime',
  },
  {
    fact: 'chown › -1 and -1 by a user who owns nothing: allowed',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0)
      return outcome(() => fs.as(BOB).chown('f', -1, -1))
    },
    expect: 'ok',
  },
  {
    fact: 'chown › giving a file away: EPERM for its owner, as for any other user',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return [
        await outcome(() => fs.as(ANN).chown('f', BOB.uid, -1)),
        await outcome(() => fs.as(BOB).chown('f', BOB.uid, -1)),
      ]
    },
    expect: ['EPERM', 'EPERM'],
  },
  {
    fact: 'chown › by the owner to the owner: allowed; by another user to the owner: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return [
        await outcome(() => fs.as(ANN).chown('f', ANN.uid, -1)),
        await outcome(() => fs.as(BOB).chown('f', ANN.uid, -1)),
      ]
    },
    expect: ['ok', 'EPERM'],
  },
  {
    fact: 'chown › group by the owner: to a group they are in, allowed; to another, EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f')
      const ann = fs.as(ANN_IN_TEAM)
      return [
        await outcome(() => ann.chown('f', -1, TEAM)),
        await owner(fs, 'f'),
        await outcome(() => ann.chown('f', -1, ANN.gid)),
        await outcome(() => ann.chown('f', -1, BOB.gid)),
      ]
    },
    expect: ['ok', '1001:2000', 'ok', 'EPERM'],
  },
  {
    fact: 'chown › group by the owner to the group it has, without being in it: allowed',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { ...ANN, gid: TEAM }, 'f')
      return outcome(() => fs.as(ANN).chown('f', -1, TEAM))
    },
    expect: 'ok',
  },
  {
    fact: 'chown › group by a user in both groups who is not the owner: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      const bob = fs.as({ ...BOB, groups: [ANN.gid, TEAM] })
      return outcome(() => bob.chown('f', -1, TEAM))
    },
    expect: 'EPERM',
  },
  {
    fact: 'chown › a directory: what is inside keeps its owner',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd')
      await create(fs, 'd/f')
      await fs.chown('d', BOB.uid, BOB.gid)
      return owner(fs, 'd/f')
    },
    expect: '0:0',
  },
  {
    fact: 'chown › lchown of a symlink by its owner to a group they are in: allowed',
    root: true,
    ask: async (fs) => {
      await fs.symlink('missing', 's')
      await fs.lchown('s', ANN.uid, ANN.gid)
      await fs.as(ANN_IN_TEAM).lchown('s', -1, TEAM)
      return owner(fs, 's')
    },
    expect: '1001:2000',
  },
]
