import * as fs from 'node:fs'
import { libc } from '../../posix/libc.ts'
import { outcome, type Place, result } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

const nonUtf8 = Buffer.from([0x66, 0xff, 0xfe, 0x80, 0x67])

function bytePath(place: Place, name: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${place.directory}/`), name])
}

function byteNames(place: Place): string[] {
  return fs.readdirSync(place.directory, { encoding: 'buffer' }).map((name) => name.toString('hex'))
}

/** Names, listings, the room that is left, and the directory that tells of the mount itself. */
export const names: readonly TwoMountQuestion[] = [
  {
    fact: 'a name of 255 bytes is kept; one of 256 is refused',
    ask: (a, b) => {
      a.write('n'.repeat(255), 'x')
      return [b.read('n'.repeat(255)), outcome(() => a.write('n'.repeat(256), ''))]
    },
    expect: ['x', 'ENAMETOOLONG'],
  },
  {
    fact: 'a name of 255 bytes in 85 letters of three bytes',
    ask: (a, b) => (a.write('漢'.repeat(85), 'x'), b.names()[0] === '漢'.repeat(85)),
    expect: true,
  },
  {
    fact: 'a name that is no UTF-8',
    ask: (a, b) => {
      fs.writeFileSync(bytePath(a, nonUtf8), 'x')
      return [
        byteNames(b),
        fs.readFileSync(bytePath(b, nonUtf8), 'utf8'),
        (fs.unlinkSync(bytePath(b, nonUtf8)), byteNames(a)),
      ]
    },
    expect: [['66fffe8067'], 'x', []],
  },
  {
    fact: 'names with a newline, a backslash, quotes, and leading or trailing blanks and dots',
    ask: (a, b) => {
      const odd = ['a\nb', 'back\\slash', '"quoted\'', ' blank ', '...', '-rf', '*', 'tab\t', '~']
      for (const name of odd) a.write(name, name)
      return JSON.stringify(b.names()) === JSON.stringify(odd.toSorted())
    },
    expect: true,
  },
  {
    fact: 'names that differ in case, or in how a letter is composed, are different',
    ask: (a, b) => {
      for (const name of ['file', 'File', 'é', 'e\u0301']) a.write(name, name)
      return [b.names().length, b.read('File'), b.exists('FILE')]
    },
    expect: [4, 'File', false],
  },
  {
    fact: 'a symlink to 4,095 bytes of path, and one that is no UTF-8',
    ask: (a, b) => {
      const long = 'x/'.repeat(2047) + 'x'
      fs.symlinkSync(long, a.path('long'))
      fs.symlinkSync(nonUtf8, a.path('odd'))
      const odd = fs.readlinkSync(b.path('odd'), { encoding: 'buffer' })
      return [fs.readlinkSync(b.path('long')) === long, odd.equals(nonUtf8)]
    },
    expect: [true, true],
  },
  {
    fact: 'a symlink that leads to itself',
    ask: (a, b) => (fs.symlinkSync('loop', a.path('loop')), outcome(() => b.read('loop'))),
    expect: 'ELOOP',
  },
  {
    fact: 'a tree 100 directories deep',
    ask: (a, b) => {
      const deep = Array.from({ length: 100 }, () => 'd').join('/')
      fs.mkdirSync(a.path(deep), { recursive: true })
      a.write(`${deep}/f`, 'deep')
      return b.read(`${deep}/f`)
    },
    expect: 'deep',
  },
  {
    fact: 'a listing gives the kinds of what it names',
    ask: (a, b) => {
      a.sh('mkdir d; : > f; ln -s f l; mkfifo p')
      const kinds = fs.readdirSync(b.directory, { withFileTypes: true }).map((entry) => {
        const kind = entry.isDirectory() ? 'd' : entry.isFile() ? 'f' : entry.isFIFO() ? 'p' : 'l'
        return `${entry.name} ${kind}`
      })
      return kinds.sort()
    },
    expect: ['d d', 'f f', 'l l', 'p p'],
  },
  {
    fact: '`.` and `..` are listed, with their inode numbers',
    ask: (a, b) => {
      a.mkdir('d')
      const [self, parent] = b.sh("ls -ai d | awk '{ print $1 }'").trim().split('\n')
      return [self === String(b.stat('d').ino), parent === String(b.stat('.').ino)]
    },
    expect: [true, true],
  },
  {
    fact: 'telldir and seekdir: a listing that is wound back begins anew',
    ask: (a, b) => {
      a.sh('touch 1 2 3')
      const fd = fs.openSync(b.directory, 'r')
      const buffer = Buffer.alloc(4096)
      const lengths = [libc.getdents(fd, buffer, 4096)]
      lengths.push(libc.getdents(fd, buffer, 4096))
      libc.lseek(fd, 0, 0)
      lengths.push(libc.getdents(fd, buffer, 4096))
      fs.closeSync(fd)
      return [lengths[0]! > 0, lengths[1], lengths[2] === lengths[0]]
    },
    expect: [true, 0, true],
  },
  {
    fact: 'statfs: room, names of 255 bytes, the same on both',
    ask: (a, b) => {
      const [here, there] = [fs.statfsSync(a.directory), fs.statfsSync(b.directory)]
      return [here.bfree > 0, here.ffree > 0, here.bsize, there.blocks === here.blocks]
    },
    expect: [true, true, 4096, true],
  },
  {
    fact: 'df, du and stat -f work',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(10_000))
      return [
        b.sh('df . | wc -l').trim(),
        b.sh('stat -f -c %l .').trim(),
        b.sh('du -s --apparent-size . | cut -f1').trim() !== '0',
      ]
    },
    expect: ['2', '255', true],
  },
  {
    fact: 'an inode number of a directory is the same in its listing and by stat',
    ask: (a, b) => {
      a.mkdir('d')
      return b.sh('ls -id d').split(' ')[0] === String(a.stat('d').ino)
    },
    expect: true,
  },
  {
    fact: 'a path through a file is no directory; an empty name is not there',
    ask: (a, b) => {
      a.write('f', '')
      return [outcome(() => b.read('f/x')), result(libc.mkdir(Buffer.from('\0'), 0o755))]
    },
    expect: ['ENOTDIR', 'ENOENT'],
  },
]

/** Asked in the root of a mount. */
export const status: readonly TwoMountQuestion[] = [
  {
    fact: '.cairn is in no listing',
    ask: (a) => a.names().includes('.cairn'),
    expect: false,
  },
  {
    fact: '.cairn lists its files',
    ask: (a) => a.names('.cairn'),
    expect: ['conflicts', 'errors', 'log', 'status'],
  },
  {
    fact: '.cairn/status says what it is',
    ask: (a) => /^workspace: demo$/m.test(a.read('.cairn/status')),
    expect: true,
  },
  {
    fact: '.cairn/conflicts, log and errors can be read to their end',
    ask: (a) =>
      ['conflicts', 'log', 'errors'].map((name) => a.read(`.cairn/${name}`).endsWith('\n')),
    expect: [true, true, true],
  },
  {
    fact: '.cairn/status is of the moment it is opened',
    ask: (a, b) => {
      const log = (text: string): number => Number(/^log: (\d+)$/m.exec(text)![1])
      const before = log(a.read('.cairn/status'))
      b.write('moves-the-log', 'x')
      // Where that mount decides itself, a look has it send what it did.
      a.read('moves-the-log')
      return log(a.read('.cairn/status')) > before
    },
    expect: true,
  },
  {
    fact: '.cairn/log says that another client wrote',
    ask: (a, b) => (b.write('told', 'x'), a.read('.cairn/log').includes('operations')),
    expect: true,
  },
  {
    fact: 'the size that stat gives for .cairn/status is what can be read',
    ask: (a) => {
      const fd = a.open('.cairn/status')
      const { size } = fs.fstatSync(fd)
      const length = fs.readFileSync(fd).length
      fs.closeSync(fd)
      return size === length && size > 0
    },
    expect: true,
  },
  {
    fact: '.cairn is read-only: nothing is made, removed, renamed or changed in it',
    ask: (a) => {
      a.write('outside', 'x')
      return [
        outcome(() => a.write('.cairn/new', '')),
        outcome(() => a.mkdir('.cairn/new')),
        outcome(() => fs.symlinkSync('x', a.path('.cairn/new'))),
        outcome(() => a.unlink('.cairn/status')),
        outcome(() => a.rename('.cairn/status', 'out')),
        outcome(() => a.rename('outside', '.cairn/in')),
        outcome(() => fs.linkSync(a.path('outside'), a.path('.cairn/in'))),
        outcome(() => a.truncate('.cairn/status', 0)),
        outcome(() => fs.chmodSync(a.path('.cairn/status'), 0o777)),
        outcome(() => a.append('.cairn/status', 'x')),
      ]
    },
    expect: Array.from({ length: 10 }, () => 'EROFS'),
  },
  {
    fact: '.cairn itself is neither removed nor renamed nor covered',
    ask: (a) => [
      outcome(() => fs.rmdirSync(a.path('.cairn'))),
      outcome(() => a.rename('.cairn', 'visible')),
      outcome(() => a.mkdir('.cairn')),
      outcome(() => a.write('.cairn', 'x')),
    ],
    expect: ['EROFS', 'EROFS', 'EEXIST', 'EISDIR'],
  },
  {
    fact: 'cp and grep read .cairn/status as any file',
    ask: (a) => [
      a.sh('cp .cairn/status copy; grep -c workspace copy; rm copy'),
      a.sh('grep -rc demo .cairn/status'),
    ],
    expect: ['1\n', '1\n'],
  },
  {
    fact: 'find and tar of the whole mount meet no .cairn',
    // To /dev/null tar reads no bytes, and there are many from other questions.
    ask: (a) =>
      a.sh('find . -name .cairn | wc -l; tar cvf /dev/null . | grep -c "^./.cairn" || true'),
    expect: '0\n0\n',
  },
  {
    fact: '.cairn in a subdirectory is an ordinary name',
    ask: (a, b) => {
      a.sh('mkdir -p sub; echo x > sub/.cairn')
      return [b.read('sub/.cairn'), b.names('sub')]
    },
    expect: ['x\n', ['.cairn']],
  },
]
