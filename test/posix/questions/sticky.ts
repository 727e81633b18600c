import { RENAME_EXCHANGE } from '../constants.ts'
import { ANN, BOB, createFor, directory, directoryFor, outcome, TEAM } from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** Like /tmp: everybody may create, and one file of Ann's is in it. */
async function createStickyDirectory(fs: Subject): Promise<void> {
  await directory(fs, 'tmp', 0o1777)
  await createFor(fs, ANN, 'tmp/of-ann', 0o666)
}

export const stickyQuestions: readonly Question[] = [
  {
    fact: 'sticky › unlink by another user: EPERM, though they may write file and directory',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      return outcome(() => fs.as(BOB).unlink('tmp/of-ann'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'sticky › unlink by the owner of the file: allowed',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      return outcome(() => fs.as(ANN).unlink('tmp/of-ann'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › unlink by the owner of the directory: allowed',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await fs.chown('tmp', BOB.uid, BOB.gid)
      return outcome(() => fs.as(BOB).unlink('tmp/of-ann'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › unlink by root: allowed',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'tmp', 0o1777)
      await createFor(fs, ANN, 'tmp/of-ann')
      return outcome(() => fs.unlink('tmp/of-ann'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › unlink by a user in the group of file and directory: EPERM',
    root: true,
    ask: async (fs) => {
      await directory(fs, 'tmp', 0o1777)
      await fs.chown('tmp', 0, TEAM)
      await createFor(fs, { ...ANN, gid: TEAM }, 'tmp/f', 0o666)
      return outcome(() => fs.as({ ...BOB, groups: [TEAM] }).unlink('tmp/f'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'sticky › without the bit: another user may unlink',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await fs.chmod('tmp', 0o777)
      return outcome(() => fs.as(BOB).unlink('tmp/of-ann'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › rename away by another user: EPERM',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await directoryFor(fs, BOB, 'home')
      return outcome(() => fs.as(BOB).rename('tmp/of-ann', 'home/stolen'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'sticky › rename of an own file over that of another user: EPERM',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await createFor(fs, BOB, 'tmp/of-bob')
      return outcome(() => fs.as(BOB).rename('tmp/of-bob', 'tmp/of-ann'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'sticky › rename of an own file to a new name: allowed',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      return outcome(() => fs.as(ANN).rename('tmp/of-ann', 'tmp/still-of-ann'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › exchange of an own file with that of another user: EPERM, either way round',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await directoryFor(fs, BOB, 'home')
      await createFor(fs, BOB, 'home/of-bob')
      const bob = fs.as(BOB)
      return [
        await outcome(() => bob.rename('home/of-bob', 'tmp/of-ann', RENAME_EXCHANGE)),
        await outcome(() => bob.rename('tmp/of-ann', 'home/of-bob', RENAME_EXCHANGE)),
      ]
    },
    expect: ['EPERM', 'EPERM'],
  },
  {
    fact: 'sticky › rmdir by another user: EPERM; by the owner: allowed',
    root: true,
    ask: async (fs) => {
      await directory(fs, 'tmp', 0o1777)
      await directoryFor(fs, ANN, 'tmp/d', 0o777)
      return [
        await outcome(() => fs.as(BOB).rmdir('tmp/d')),
        await outcome(() => fs.as(ANN).rmdir('tmp/d')),
      ]
    },
    expect: ['EPERM', 'ok'],
  },
  {
    fact: 'sticky › inside a directory of a sticky directory: its own mode counts',
    root: true,
    ask: async (fs) => {
      await directory(fs, 'tmp', 0o1777)
      await directoryFor(fs, ANN, 'tmp/d', 0o777)
      await createFor(fs, ANN, 'tmp/d/f')
      return outcome(() => fs.as(BOB).unlink('tmp/d/f'))
    },
    expect: 'ok',
  },
  {
    fact: 'sticky › unlink of a directory of another user: EPERM comes before EISDIR',
    root: true,
    ask: async (fs) => {
      await directory(fs, 'tmp', 0o1777)
      await directoryFor(fs, ANN, 'tmp/d')
      return outcome(() => fs.as(BOB).unlink('tmp/d'))
    },
    expect: 'EPERM',
  },
  {
    fact: 'sticky › and not writable: EACCES comes before EPERM',
    root: true,
    ask: async (fs) => {
      await createStickyDirectory(fs)
      await fs.chmod('tmp', 0o1755)
      return outcome(() => fs.as(BOB).unlink('tmp/of-ann'))
    },
    expect: 'EACCES',
  },
]
