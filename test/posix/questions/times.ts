import { O_RDONLY } from '../constants.ts'
import {
  ANN,
  BOB,
  bytes,
  create,
  createFor,
  createOpen,
  LONG_AGO,
  moved,
  outcome,
  outcomes,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Path, Subject } from '../subject.ts'

async function times(fs: Subject, path: Path): Promise<readonly bigint[]> {
  const { atimeNs, mtimeNs } = await fs.lstat(path)
  return [atimeNs, mtimeNs]
}

const SECOND = 1_000_000_000n

export const timesQuestions: readonly Question[] = [
  {
    fact: 'times › set: kept to the nanosecond',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 1_234_567_890_123_456_789n, 987_654_321_987_654_321n)
      return times(fs, 'f')
    },
    expect: [1_234_567_890_123_456_789n, 987_654_321_987_654_321n],
  },
  {
    fact: 'times › 1970 itself and its first and last nanosecond: kept',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 0n, 1n)
      const first = await times(fs, 'f')
      await fs.utimens('f', SECOND - 1n, SECOND)
      return [...first, ...(await times(fs, 'f'))]
    },
    expect: [0n, 1n, SECOND - 1n, SECOND],
  },
  {
    fact: 'times › before 1970, with a part of a second: kept',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', -1n, -86_400n * SECOND - 500_000_000n)
      return times(fs, 'f')
    },
    expect: [-1n, -86_400n * SECOND - 500_000_000n],
  },
  {
    fact: 'times › after 2038 and after 2106: kept',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 2_147_483_648n * SECOND, 4_294_967_296n * SECOND + 7n)
      return times(fs, 'f')
    },
    expect: [2_147_483_648n * SECOND, 4_294_967_296n * SECOND + 7n],
  },
  {
    fact: 'times › mtime omitted: only atime changes',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 1n, 2n)
      await fs.utimens('f', 3n, 'omit')
      return times(fs, 'f')
    },
    expect: [3n, 2n],
  },
  {
    fact: 'times › atime omitted: only mtime changes',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 1n, 2n)
      await fs.utimens('f', 'omit', 3n)
      return times(fs, 'f')
    },
    expect: [1n, 3n],
  },
  {
    fact: 'times › both omitted: nothing changes, not even ctime',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.utimens('f', 'omit', 'omit'))
    },
    expect: 'nothing',
  },
  {
    fact: 'times › both omitted: succeeds for a missing file',
    ask: (fs) => outcome(() => fs.utimens('missing', 'omit', 'omit')),
    expect: 'ok',
  },
  {
    fact: 'times › now: both are the same instant, which is that of ctime',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', LONG_AGO, LONG_AGO)
      await fs.utimens('f', 'now', 'now')
      const { atimeNs, mtimeNs, ctimeNs } = await fs.stat('f')
      return [mtimeNs > LONG_AGO, atimeNs === mtimeNs, mtimeNs === ctimeNs]
    },
    expect: [true, true, true],
  },
  {
    fact: 'times › atime now, mtime given: each as asked',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 1n, 2n)
      await fs.utimens('f', 'now', 3n)
      const [atime = 0n, mtime] = await times(fs, 'f')
      return [atime > LONG_AGO, mtime]
    },
    expect: [true, 3n],
  },
  {
    fact: 'times › set to what they are: ctime moves',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.utimens('f', LONG_AGO, LONG_AGO))
    },
    expect: 'ctime',
  },
  {
    fact: 'times › only atime set: ctime moves, mtime does not',
    ask: async (fs) => {
      await create(fs, 'f')
      return moved(fs, 'f', () => fs.utimens('f', 5n, 'omit'))
    },
    expect: 'ctime',
  },
  {
    fact: 'times › of a directory: kept until something in it changes',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.utimens('d', 1n, 2n)
      const set = (await fs.stat('d')).mtimeNs
      await create(fs, 'd/f')
      return [set, (await fs.stat('d')).mtimeNs > LONG_AGO]
    },
    expect: [2n, true],
  },
  {
    fact: 'times › through a symlink: those of the target',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('f', 's')
      await fs.utimens('s', 1n, 2n)
      return times(fs, 'f')
    },
    expect: [1n, 2n],
  },
  {
    fact: 'times › missing: ENOENT; dangling symlink: ENOENT; file with a slash behind it: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.symlink('missing', 's')
      return outcomes(['missing', 's', 'f/'], (path) => fs.utimens(path, 1n, 2n))
    },
    expect: ['ENOENT', 'ENOENT', 'ENOTDIR'],
  },
  {
    fact: 'times › futimens of a descriptor opened for reading: changes',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.futimens(await fs.open('f', O_RDONLY), 1n, 2n)
      return times(fs, 'f')
    },
    expect: [1n, 2n],
  },
  {
    fact: 'times › set while open for writing: closing does not move them again',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.write(fd, bytes('content'))
      await fs.futimens(fd, 1n, 2n)
      await fs.close(fd)
      return times(fs, 'f')
    },
    expect: [1n, 2n],
  },
  {
    fact: 'times › written after they were set: mtime moves, atime does not',
    ask: async (fs) => {
      const fd = await createOpen(fs, 'f')
      await fs.futimens(fd, 1n, 2n)
      await fs.write(fd, bytes('content'))
      const [atime, mtime = 0n] = await times(fs, 'f')
      return [atime, mtime > LONG_AGO]
    },
    expect: [1n, true],
  },
  {
    fact: 'times › renamed, linked, mode changed: both stay',
    ask: async (fs) => {
      await create(fs, 'f')
      await fs.utimens('f', 1n, 2n)
      await fs.rename('f', 'g')
      await fs.link('g', 'h')
      await fs.chmod('g', 0o600)
      return times(fs, 'h')
    },
    expect: [1n, 2n],
  },
  {
    fact: 'times › now by a user who may write: allowed',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return outcome(() => fs.as(BOB).utimens('f', 'now', 'now'))
    },
    expect: 'ok',
  },
  {
    fact: 'times › now by a user who may only read: EACCES',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o644)
      return outcome(() => fs.as(BOB).utimens('f', 'now', 'now'))
    },
    expect: 'EACCES',
  },
  {
    fact: 'times › given by a user who may write but is not the owner: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return outcome(() => fs.as(BOB).utimens('f', 1n, 2n))
    },
    expect: 'EPERM',
  },
  {
    fact: 'times › only one of them now, by a user who is not the owner: EPERM',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      return [
        await outcome(() => fs.as(BOB).utimens('f', 'now', 'omit')),
        await outcome(() => fs.as(BOB).utimens('f', 'omit', 'now')),
      ]
    },
    expect: ['EPERM', 'EPERM'],
  },
  {
    fact: 'times › given by the owner of a file they may neither read nor write: allowed',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0)
      return [
        await outcome(() => fs.as(ANN).utimens('f', 1n, 2n)),
        await outcome(() => fs.as(ANN).utimens('f', 'now', 'now')),
      ]
    },
    expect: ['ok', 'ok'],
  },
]
