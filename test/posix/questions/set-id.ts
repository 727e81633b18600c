import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  MiB,
  O_RDONLY,
  O_RDWR,
  O_TRUNC,
  O_WRONLY,
} from '../constants.ts'
import {
  ANN,
  ANN_IN_TEAM,
  BOB,
  bytes,
  create,
  createFor,
  directoryFor,
  permissions,
  TEAM,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** The remaining mode of a program that everyone may write, after another user did `change`. */
async function modeAfter(
  fs: Subject,
  mode: number,
  change: (bob: Subject) => Promise<unknown>,
): Promise<string> {
  await createFor(fs, ANN, 'program', mode)
  await change(fs.as(BOB))
  return permissions(fs, 'program')
}

async function writeOneByte(fs: Subject): Promise<void> {
  await fs.write(await fs.open('program', O_WRONLY), bytes('x'))
}

export const setIdQuestions: readonly Question[] = [
  {
    fact: 'set-id › written by an ordinary user: set-user-id and set-group-id are cleared',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6777, writeOneByte),
    expect: '0777',
  },
  {
    fact: 'set-id › written by its own ordinary owner: cleared as well',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await writeOneByte(fs.as(ANN))
      return permissions(fs, 'program')
    },
    expect: '0755',
  },
  {
    fact: 'set-id › written by root: both stay',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await writeOneByte(fs)
      return permissions(fs, 'program')
    },
    expect: '6755',
  },
  {
    fact: 'set-id › written, no group execute bit, writer outside the group: both are cleared',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6767, writeOneByte),
    expect: '0767',
  },
  {
    fact: 'set-id › written, no group execute bit, writer in the group: set-group-id stays',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6767)
      await writeOneByte(fs.as(ANN))
      return permissions(fs, 'program')
    },
    expect: '2767',
  },
  {
    fact: 'set-id › written: sticky stays',
    root: true,
    ask: (fs) => modeAfter(fs, 0o7777, writeOneByte),
    expect: '1777',
  },
  {
    fact: 'set-id › no bytes written: both stay',
    root: true,
    ask: (fs) =>
      modeAfter(fs, 0o6777, async (bob) => {
        await bob.write(await bob.open('program', O_WRONLY), bytes(''))
      }),
    expect: '6777',
  },
  {
    fact: 'set-id › opened for writing and closed again: both stay',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6777, async (bob) => bob.close(await bob.open('program', O_RDWR))),
    expect: '6777',
  },
  {
    fact: 'set-id › truncated by path: both are cleared',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6777, (bob) => bob.truncate('program', 3)),
    expect: '0777',
  },
  {
    fact: 'set-id › truncated to the size it has: both are cleared as well',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6777, (bob) => bob.truncate('program', 7)),
    expect: '0777',
  },
  {
    fact: 'set-id › opened with O_TRUNC: both are cleared',
    root: true,
    ask: (fs) => modeAfter(fs, 0o6777, (bob) => bob.open('program', O_WRONLY | O_TRUNC)),
    expect: '0777',
  },
  {
    fact: 'set-id › grown by fallocate: both are cleared',
    root: true,
    ask: (fs) =>
      modeAfter(fs, 0o6777, async (bob) => {
        await bob.fallocate(await bob.open('program', O_WRONLY), 0, 0, MiB)
      }),
    expect: '0777',
  },
  {
    fact: 'set-id › punched: both are cleared',
    root: true,
    ask: (fs) =>
      modeAfter(fs, 0o6777, async (bob) => {
        const fd = await bob.open('program', O_WRONLY)
        await bob.fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4)
      }),
    expect: '0777',
  },
  {
    fact: 'set-id › written by copy-range: both are cleared',
    root: true,
    ask: async (fs) => {
      await create(fs, 'source', 'content')
      return modeAfter(fs, 0o6777, async (bob) => {
        const from = await bob.open('source', O_RDONLY)
        await bob.copyFileRange(from, 0, await bob.open('program', O_WRONLY), 0, 7)
      })
    },
    expect: '0777',
  },
  {
    fact: 'set-id › chown by root: both are cleared, though root did it',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await fs.chown('program', BOB.uid, BOB.gid)
      return permissions(fs, 'program')
    },
    expect: '0755',
  },
  {
    fact: 'set-id › chown to the owner it has: both are cleared as well',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await fs.chown('program', ANN.uid, ANN.gid)
      return permissions(fs, 'program')
    },
    expect: '0755',
  },
  {
    fact: 'set-id › chown with -1 and -1: both are cleared as well',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await fs.chown('program', -1, -1)
      return permissions(fs, 'program')
    },
    expect: '0755',
  },
  {
    fact: 'set-id › chown by root, no group execute bit: set-group-id stays',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6745)
      await fs.chown('program', BOB.uid, BOB.gid)
      return permissions(fs, 'program')
    },
    expect: '2745',
  },
  {
    fact: 'set-id › chown of the group by the owner: both are cleared',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await fs.as(ANN_IN_TEAM).chown('program', -1, TEAM)
      return permissions(fs, 'program')
    },
    expect: '0755',
  },
  {
    fact: 'set-id › chown of a directory: both stay',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o6755)
      await fs.chown('d', BOB.uid, BOB.gid)
      return permissions(fs, 'd')
    },
    expect: '6755',
  },
  {
    fact: 'set-id › times, links and names changed: both stay',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'program', 0o6755)
      await fs.as(ANN).utimens('program', 'now', 'now')
      await fs.link('program', 'other')
      await fs.rename('program', 'renamed')
      return permissions(fs, 'renamed')
    },
    expect: '6755',
  },
]
