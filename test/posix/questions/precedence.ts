import { O_CREAT, O_EXCL, O_WRONLY, RENAME_NOREPLACE, S_IFCHR } from '../constants.ts'
import { ANN, BOB, create, createFor, directoryFor, outcome } from '../observe.ts'
import type { Question } from '../question.ts'
import type { Subject } from '../subject.ts'

/** A directory in which Bob may look but not write, with a file and a full directory of his own. */
async function createReadOnlyDirectory(fs: Subject): Promise<Subject> {
  await directoryFor(fs, ANN, 'd', 0o755)
  await createFor(fs, BOB, 'd/f')
  await directoryFor(fs, BOB, 'd/full')
  await create(fs, 'd/full/f')
  return fs.as(BOB)
}

export const precedenceQuestions: readonly Question[] = [
  {
    fact: 'precedence › making a name that exists where nothing may be made: EEXIST before EACCES',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return [
        await outcome(() => bob.mkdir('d/f')),
        await outcome(() => bob.symlink('x', 'd/f')),
        await outcome(() => bob.link('d/f', 'd/full')),
        await outcome(() => bob.mknod('d/f', 0o644)),
        await outcome(() => bob.open('d/f', O_WRONLY | O_CREAT | O_EXCL)),
      ]
    },
    expect: Array(5).fill('EEXIST'),
  },
  {
    fact: 'precedence › opening an existing file with O_CREAT where nothing may be made: opens',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.open('d/f', O_WRONLY | O_CREAT))
    },
    expect: 'ok',
  },
  {
    fact: 'precedence › missing name where nothing may be removed: ENOENT before EACCES',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return [
        await outcome(() => bob.unlink('d/missing')),
        await outcome(() => bob.rmdir('d/missing')),
        await outcome(() => bob.rename('d/missing', 'd/g')),
      ]
    },
    expect: ['ENOENT', 'ENOENT', 'ENOENT'],
  },
  {
    fact: 'precedence › rmdir of a full directory where nothing may be removed: EACCES first',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.rmdir('d/full'))
    },
    expect: 'EACCES',
  },
  {
    fact: 'precedence › wrong kind where nothing may be removed: EACCES before EISDIR and ENOTDIR',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return [
        await outcome(() => bob.unlink('d/full')),
        await outcome(() => bob.rmdir('d/f')),
        await outcome(() => bob.rename('d/f', 'd/full')),
      ]
    },
    expect: ['EACCES', 'EACCES', 'EACCES'],
  },
  {
    fact: 'precedence › slash behind a file where nothing may be removed: ENOTDIR before EACCES',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return [
        await outcome(() => bob.unlink('d/f/')),
        await outcome(() => bob.rename('d/f/', 'd/g')),
      ]
    },
    expect: ['ENOTDIR', 'ENOTDIR'],
  },
  {
    fact: 'precedence › rename of a directory below itself where nothing may change: EINVAL first',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.rename('d/full', 'd/full/x'))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'precedence › NOREPLACE onto a name where nothing may change: EEXIST before EACCES',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.rename('d/f', 'd/full', RENAME_NOREPLACE))
    },
    expect: 'EEXIST',
  },
  {
    fact: 'precedence › rename onto itself where nothing may change: succeeds',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.rename('d/f', 'd/f'))
    },
    expect: 'ok',
  },
  {
    fact: 'precedence › rename of a file onto a full directory: EISDIR before ENOTEMPTY',
    ask: async (fs) => {
      await fs.mkdir('full')
      await create(fs, 'full/f')
      await create(fs, 'f')
      return outcome(() => fs.rename('f', 'full'))
    },
    expect: 'EISDIR',
  },
  {
    fact: 'precedence › link of a directory where nothing may be made: EACCES before EPERM',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.link('d/full', 'd/new'))
    },
    expect: 'EACCES',
  },
  {
    fact: 'precedence › device by an ordinary user where nothing may be made: EACCES before EPERM',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return outcome(() => bob.mknod('d/c', S_IFCHR | 0o600, { major: 1, minor: 3 }))
    },
    expect: 'EACCES',
  },
  {
    fact: 'precedence › writing to a directory that may not be written: EISDIR before EACCES',
    root: true,
    ask: async (fs) => {
      const bob = await createReadOnlyDirectory(fs)
      return [
        await outcome(() => bob.open('d', O_WRONLY)),
        await outcome(() => bob.truncate('d', 0)),
      ]
    },
    expect: ['EISDIR', 'EISDIR'],
  },
  {
    fact: 'precedence › truncate to a negative length of a missing file: EINVAL before ENOENT',
    ask: (fs) => outcome(() => fs.truncate('missing', -1)),
    expect: 'EINVAL',
  },
  {
    fact: 'precedence › symlink with an empty target onto an existing name: ENOENT before EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.symlink('', 'f'))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'precedence › mknod of a directory onto an existing name: EPERM before EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.mknod('f', 0o040755))
    },
    expect: 'EPERM',
  },
]
