import { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDONLY, O_RDWR, O_WRONLY } from '../constants.ts'
import {
  bytes,
  create,
  moved,
  names,
  octal,
  outcome,
  owner,
  permissions,
  text,
} from '../observe.ts'
import type { Question } from '../question.ts'

export const createQuestions: readonly Question[] = [
  {
    fact: 'create › new file: empty, one link, no blocks, owned by who made it',
    ask: async (fs) => {
      await fs.open('f', O_WRONLY | O_CREAT, 0o644)
      const { kind, size, nlink, blocks, uid, rdev } = await fs.stat('f')
      return { kind, size, nlink, blocks, mine: uid === fs.credentials.uid, rdev }
    },
    expect: {
      kind: 'file',
      size: 0,
      nlink: 1,
      blocks: 0,
      mine: true,
      rdev: { major: 0, minor: 0 },
    },
  },
  {
    fact: 'create › new file: atime, mtime and ctime are the same instant',
    ask: async (fs) => {
      const { atimeNs, mtimeNs, ctimeNs } = await fs.fstat(await fs.open('f', O_WRONLY | O_CREAT))
      return [atimeNs === mtimeNs, mtimeNs === ctimeNs]
    },
    expect: [true, true],
  },
  {
    fact: 'create › mode: the bits of the umask are taken out',
    ask: async (fs) => {
      await fs.umask(0o027)
      await fs.open('f', O_WRONLY | O_CREAT, 0o666)
      return permissions(fs, 'f')
    },
    expect: '0640',
  },
  {
    fact: 'create › umask 0: the mode is taken as it is',
    ask: async (fs) => {
      await fs.umask(0)
      await fs.open('f', O_WRONLY | O_CREAT, 0o666)
      return permissions(fs, 'f')
    },
    expect: '0666',
  },
  {
    fact: 'create › umask 0777: mode 0, and the descriptor works',
    ask: async (fs) => {
      await fs.umask(0o777)
      const fd = await fs.open('f', O_RDWR | O_CREAT, 0o777)
      await fs.write(fd, bytes('content'))
      return [await permissions(fs, 'f'), text(await fs.pread(fd, 7, 0))]
    },
    expect: ['0000', 'content'],
  },
  {
    fact: 'create › umask: tells the mask before',
    ask: async (fs) => [octal(await fs.umask(0o077)), octal(await fs.umask(0o022))],
    expect: ['0022', '0077'],
  },
  {
    fact: 'create › read-only mode with O_WRONLY: this descriptor may write',
    ask: async (fs) => {
      const fd = await fs.open('f', O_WRONLY | O_CREAT, 0o444)
      return fs.write(fd, bytes('content'))
    },
    expect: 7,
  },
  {
    fact: 'create › set-user-id, set-group-id and sticky bits in the mode are kept',
    ask: async (fs) => {
      await fs.open('f', O_WRONLY | O_CREAT, 0o7755)
      return permissions(fs, 'f')
    },
    expect: '7755',
  },
  {
    fact: 'create › O_EXCL on a new name: creates',
    ask: async (fs) => {
      const made = await outcome(() => fs.open('f', O_WRONLY | O_CREAT | O_EXCL))
      return [made, await names(fs, '.')]
    },
    expect: ['ok', ['f']],
  },
  {
    fact: 'create › O_EXCL on an existing file: EEXIST',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.open('f', O_WRONLY | O_CREAT | O_EXCL))
    },
    expect: 'EEXIST',
  },
  {
    fact: 'create › O_EXCL on an existing directory: EEXIST, not EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      return outcome(() => fs.open('d', O_WRONLY | O_CREAT | O_EXCL))
    },
    expect: 'EEXIST',
  },
  {
    fact: 'create › O_EXCL on a dangling symlink: EEXIST, and the target is not made',
    ask: async (fs) => {
      await fs.symlink('target', 's')
      const made = await outcome(() => fs.open('s', O_WRONLY | O_CREAT | O_EXCL))
      return [made, await names(fs, '.')]
    },
    expect: ['EEXIST', ['s']],
  },
  {
    fact: 'create › through a dangling symlink: the target is made',
    ask: async (fs) => {
      await fs.mkdir('d')
      await fs.symlink('d/target', 's')
      await fs.open('s', O_WRONLY | O_CREAT)
      return names(fs, 'd')
    },
    expect: ['target'],
  },
  {
    fact: 'create › through a symlink whose target has no parent: ENOENT',
    ask: async (fs) => {
      await fs.symlink('missing/target', 's')
      return outcome(() => fs.open('s', O_WRONLY | O_CREAT))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'create › O_NOFOLLOW on a dangling symlink: ELOOP',
    ask: async (fs) => {
      await fs.symlink('target', 's')
      return outcome(() => fs.open('s', O_WRONLY | O_CREAT | O_NOFOLLOW))
    },
    expect: 'ELOOP',
  },
  {
    fact: 'create › an existing directory without O_EXCL: EISDIR, for reading too',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [
        await outcome(() => fs.open('d', O_WRONLY | O_CREAT)),
        await outcome(() => fs.open('d', O_RDONLY | O_CREAT)),
      ]
    },
    expect: ['EISDIR', 'EISDIR'],
  },
  {
    fact: 'create › new name with a slash behind it: EISDIR, and nothing is made',
    ask: async (fs) => {
      const made = await outcome(() => fs.open('f/', O_WRONLY | O_CREAT))
      return [made, await names(fs, '.')]
    },
    expect: ['EISDIR', []],
  },
  {
    fact: 'create › last component dot or dot-dot: EISDIR',
    ask: async (fs) => {
      await fs.mkdir('d')
      return [
        await outcome(() => fs.open('d/.', O_WRONLY | O_CREAT)),
        await outcome(() => fs.open('d/..', O_WRONLY | O_CREAT)),
      ]
    },
    expect: ['EISDIR', 'EISDIR'],
  },
  {
    fact: 'create › parent missing: ENOENT',
    ask: (fs) => outcome(() => fs.open('missing/f', O_WRONLY | O_CREAT)),
    expect: 'ENOENT',
  },
  {
    fact: 'create › parent is a file: ENOTDIR',
    ask: async (fs) => {
      await create(fs, 'f')
      return outcome(() => fs.open('f/g', O_WRONLY | O_CREAT))
    },
    expect: 'ENOTDIR',
  },
  {
    fact: 'create › parent is a dangling symlink: ENOENT',
    ask: async (fs) => {
      await fs.symlink('missing', 's')
      return outcome(() => fs.open('s/f', O_WRONLY | O_CREAT))
    },
    expect: 'ENOENT',
  },
  {
    fact: 'create › new file: mtime and ctime of the directory move',
    ask: async (fs) => {
      await fs.mkdir('d')
      return moved(fs, 'd', () => create(fs, 'd/f'))
    },
    expect: 'mtime and ctime',
  },
  {
    fact: 'create › existing file opened with O_CREAT: the directory does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => fs.open('d/f', O_WRONLY | O_CREAT))
    },
    expect: 'nothing',
  },
  {
    fact: 'create › refused with EEXIST: the directory does not move',
    ask: async (fs) => {
      await fs.mkdir('d')
      await create(fs, 'd/f')
      return moved(fs, 'd', () => outcome(() => create(fs, 'd/f')))
    },
    expect: 'nothing',
  },
  {
    fact: 'create › as an ordinary user: user and group of the new file are theirs',
    root: true,
    ask: async (fs) => {
      await fs.chmod('.', 0o777)
      await create(fs.as({ uid: 1001, gid: 1005, groups: [2000] }), 'f')
      return owner(fs, 'f')
    },
    expect: '1001:1005',
  },
]
