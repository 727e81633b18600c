import { O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY, RENAME_EXCHANGE } from '../constants.ts'
import {
  ANN,
  ANN_IN_TEAM,
  BOB,
  create,
  createFor,
  directoryFor,
  names,
  outcome,
  outcomes,
  TEAM,
} from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

const WAYS_TO_OPEN = [O_RDONLY, O_WRONLY, O_RDWR]

function openInAllWays(fs: Subject, path: string): Promise<readonly string[]> {
  return outcomes(WAYS_TO_OPEN, (flags) => fs.open(path, flags))
}

export const permissionQuestions: readonly Question[] = [
  {
    fact: 'permission › file of mode 0: its owner may not open it, root may',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0)
      return [await openInAllWays(fs.as(ANN), 'f'), await openInAllWays(fs, 'f')]
    },
    expect: [
      ['EACCES', 'EACCES', 'EACCES'],
      ['ok', 'ok', 'ok'],
    ],
  },
  {
    fact: 'permission › owner: only the owner bits count, though others have more',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o477)
      return openInAllWays(fs.as(ANN), 'f')
    },
    expect: ['ok', 'EACCES', 'EACCES'],
  },
  {
    fact: 'permission › group: only the group bits count, though others have more',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { ...ANN, gid: TEAM }, 'f', 0o626)
      return openInAllWays(fs.as({ ...BOB, gid: TEAM }), 'f')
    },
    expect: ['EACCES', 'ok', 'EACCES'],
  },
  {
    fact: 'permission › supplementary group: counts like the first',
    root: true,
    ask: async (fs) => {
      await createFor(fs, { uid: 0, gid: TEAM, groups: [] }, 'f', 0o640)
      return [await openInAllWays(fs.as(ANN_IN_TEAM), 'f'), await openInAllWays(fs.as(ANN), 'f')]
    },
    expect: [
      ['ok', 'EACCES', 'EACCES'],
      ['EACCES', 'EACCES', 'EACCES'],
    ],
  },
  {
    fact: 'permission › others: the last three bits count',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o602)
      return openInAllWays(fs.as(BOB), 'f')
    },
    expect: ['EACCES', 'ok', 'EACCES'],
  },
  {
    fact: 'permission › O_TRUNC with O_RDONLY: needs permission to write',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o644)
      return [
        await outcome(() => fs.as(BOB).open('f', O_RDONLY | O_TRUNC)),
        (await fs.stat('f')).size,
      ]
    },
    expect: ['EACCES', 7],
  },
  {
    fact: 'permission › truncate: needs permission to write the file',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'readable', 0o644)
      await createFor(fs, ANN, 'writable', 0o622)
      return outcomes(['readable', 'writable'], (path) => fs.as(BOB).truncate(path, 0))
    },
    expect: ['EACCES', 'ok'],
  },
  {
    fact: 'permission › ftruncate: the descriptor counts, not the mode of the file',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o666)
      const fd = await fs.as(BOB).open('f', O_WRONLY)
      await fs.chmod('f', 0o600)
      return outcome(() => fs.as(BOB).ftruncate(fd, 0))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › stat, readlink: need no permission on the file itself',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0)
      await fs.symlink('f', 's')
      return [
        await outcome(() => fs.as(BOB).stat('f')),
        await outcome(() => fs.as(BOB).readlink('s')),
      ]
    },
    expect: ['ok', 'ok'],
  },
  {
    fact: 'permission › through a symlink: the mode of the target counts, not that of the symlink',
    root: true,
    ask: async (fs) => {
      await createFor(fs, ANN, 'f', 0o600)
      await fs.symlink('f', 's')
      return outcome(() => fs.as(BOB).open('s', O_RDONLY))
    },
    expect: 'EACCES',
  },
  {
    fact: 'permission › link: of an own file, not even readable, allowed',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd')
      await createFor(fs, ANN, 'd/f', 0)
      return outcome(() => fs.as(ANN).link('d/f', 'd/g'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › directory without search: nothing below can be reached, existing or not',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o766)
      await createFor(fs, BOB, 'd/f', 0o666)
      const bob = fs.as(BOB)
      return [
        await outcome(() => bob.stat('d/f')),
        await outcome(() => bob.stat('d/missing')),
        await outcome(() => bob.open('d/f', O_RDONLY)),
        await outcome(() => bob.unlink('d/f')),
        await outcome(() => bob.mkdir('d/e')),
        await outcome(() => bob.stat('d/.')),
      ]
    },
    expect: Array(6).fill('EACCES'),
  },
  {
    fact: 'permission › directory without search higher up: EACCES all the same',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o700)
      await directoryFor(fs, BOB, 'd/e', 0o777)
      await createFor(fs, BOB, 'd/e/f')
      return outcome(() => fs.as(BOB).stat('d/e/f'))
    },
    expect: 'EACCES',
  },
  {
    fact: 'permission › directory without search: can be stat-ed itself',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0)
      return outcome(() => fs.as(BOB).stat('d'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › directory with read but no search: its names can be listed',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o744)
      await create(fs, 'd/f')
      return names(fs.as(BOB), 'd')
    },
    expect: ['f'],
  },
  {
    fact: 'permission › directory with search but no read: known names open, listing is EACCES',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o711)
      await create(fs, 'd/f')
      const bob = fs.as(BOB)
      return [await outcome(() => bob.open('d/f', O_RDONLY)), await outcome(() => bob.readdir('d'))]
    },
    expect: ['ok', 'EACCES'],
  },
  {
    fact: 'permission › directory without write: nothing can be made, removed or renamed in it',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o755)
      await createFor(fs, BOB, 'd/f')
      await directoryFor(fs, BOB, 'd/e')
      const bob = fs.as(BOB)
      return [
        await outcome(() => bob.open('d/new', O_WRONLY | O_CREAT)),
        await outcome(() => bob.mkdir('d/new')),
        await outcome(() => bob.symlink('x', 'd/new')),
        await outcome(() => bob.link('d/f', 'd/new')),
        await outcome(() => bob.unlink('d/f')),
        await outcome(() => bob.rmdir('d/e')),
        await outcome(() => bob.rename('d/f', 'd/new')),
      ]
    },
    expect: Array(7).fill('EACCES'),
  },
  {
    fact: 'permission › directory with write: an unwritable file of another user can be unlinked',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o777)
      await createFor(fs, ANN, 'd/f', 0o600)
      return outcome(() => fs.as(BOB).unlink('d/f'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › directory of another user inside a writable one: rmdir allowed when empty',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0o777)
      await directoryFor(fs, ANN, 'd/e', 0o700)
      return outcome(() => fs.as(BOB).rmdir('d/e'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › rename: needs write on the directory it leaves and on the one it enters',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'mine')
      await directoryFor(fs, ANN, 'theirs')
      await createFor(fs, BOB, 'mine/f')
      await createFor(fs, BOB, 'theirs/f')
      const bob = fs.as(BOB)
      return [
        await outcome(() => bob.rename('mine/f', 'theirs/g')),
        await outcome(() => bob.rename('theirs/f', 'mine/g')),
      ]
    },
    expect: ['EACCES', 'EACCES'],
  },
  {
    fact: 'permission › rename of a directory to another parent: needs write on itself',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'from')
      await directoryFor(fs, BOB, 'to')
      await directoryFor(fs, ANN, 'from/d', 0o755)
      return outcome(() => fs.as(BOB).rename('from/d', 'to/d'))
    },
    expect: 'EACCES',
  },
  {
    fact: 'permission › exchange with a directory of another parent: needs write on that one too',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'one')
      await directoryFor(fs, BOB, 'two')
      await createFor(fs, BOB, 'one/f')
      await directoryFor(fs, ANN, 'two/d', 0o755)
      return outcome(() => fs.as(BOB).rename('one/f', 'two/d', RENAME_EXCHANGE))
    },
    expect: 'EACCES',
  },
  {
    fact: 'permission › rename of a directory inside its parent: needs no write on it',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'home')
      await directoryFor(fs, ANN, 'home/d', 0o755)
      return outcome(() => fs.as(BOB).rename('home/d', 'home/e'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › rename of a file to another parent: needs no permission on the file',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'from')
      await directoryFor(fs, BOB, 'to')
      await createFor(fs, ANN, 'from/f', 0)
      return outcome(() => fs.as(BOB).rename('from/f', 'to/f'))
    },
    expect: 'ok',
  },
  {
    fact: 'permission › root: every directory is open, whatever its mode',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, ANN, 'd', 0)
      return [await outcome(() => create(fs, 'd/f')), await names(fs, 'd')]
    },
    expect: ['ok', ['f']],
  },
  {
    fact: 'permission › directory closed after a file in it was opened: the descriptor still works',
    root: true,
    ask: async (fs) => {
      await directoryFor(fs, BOB, 'd')
      await createFor(fs, BOB, 'd/f')
      const bob = fs.as(BOB)
      const fd = await bob.open('d/f', O_RDONLY)
      await fs.chmod('d', 0)
      return (await bob.read(fd, 7)).length
    },
    expect: 7,
  },
]
