import * as fs from 'node:fs'
import { libc } from '../../posix/libc.ts'
import { AT_FDCWD } from '../../posix/libc.ts'
import { RENAME_EXCHANGE, RENAME_NOREPLACE } from '../../posix/constants.ts'
import { getXattr, outcome, type Place, result, setXattr } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

function renameWith(place: Place, from: string, to: string, flags: number): number | string {
  return result(libc.renameat2(AT_FDCWD, place.bytes(from), AT_FDCWD, place.bytes(to), flags))
}

/** What one mount does is what the other sees, whatever it had looked at before. */
export const visibility: readonly TwoMountQuestion[] = [
  {
    fact: 'a file that was created is there',
    ask: (a, b) => (a.write('f', 'x'), b.read('f')),
    expect: 'x',
  },
  {
    fact: 'a name that was looked for and not found is there once it is made',
    ask: (a, b) => [b.exists('f'), b.exists('f'), (a.write('f', 'x'), b.exists('f'))],
    expect: [false, false, true],
  },
  {
    fact: 'a directory that was listed is listed with the new name',
    ask: (a, b) => {
      a.write('one', '')
      const before = b.names()
      a.write('two', '')
      return [before, b.names()]
    },
    expect: [['one'], ['one', 'two']],
  },
  {
    fact: 'a listing loses the name that was removed',
    ask: (a, b) => {
      a.sh('touch one two')
      const before = b.names()
      a.unlink('one')
      return [before, b.names()]
    },
    expect: [['one', 'two'], ['two']],
  },
  {
    fact: 'rewriting a file that the other has read',
    ask: (a, b) => {
      a.write('f', 'old')
      const before = b.read('f')
      a.write('f', 'new and longer')
      return [before, b.read('f')]
    },
    expect: ['old', 'new and longer'],
  },
  {
    fact: 'both append in turn, and nothing is overwritten',
    ask: (a, b) => {
      for (let i = 0; i < 6; i++) (i % 2 === 0 ? a : b).append('f', `${i}`)
      return [a.read('f'), b.read('f')]
    },
    expect: ['012345', '012345'],
  },
  {
    fact: 'append through handles that stay open on both',
    ask: (a, b) => {
      a.write('f', '')
      const fds = [a.open('f', 'a'), b.open('f', 'a')]
      for (let i = 0; i < 8; i++) fs.writeSync(fds[i % 2]!, `${i}`)
      for (const fd of fds) fs.closeSync(fd)
      return [a.read('f'), b.read('f')]
    },
    expect: ['01234567', '01234567'],
  },
  {
    fact: 'truncation to nothing',
    ask: (a, b) => {
      a.write('f', 'text')
      b.read('f')
      a.truncate('f', 0)
      return [b.stat('f').size, b.read('f')]
    },
    expect: [0n, ''],
  },
  {
    fact: 'truncation on one, growth on the other: zeros between, never the old bytes',
    ask: (a, b) => {
      a.write('f', 'abcdefgh')
      b.read('f')
      a.truncate('f', 3)
      b.truncate('f', 6)
      return [a.read('f'), b.read('f')]
    },
    expect: ['abc\0\0\0', 'abc\0\0\0'],
  },
  {
    fact: 'a rename within a directory',
    ask: (a, b) => {
      a.write('f', 'x')
      b.read('f')
      a.rename('f', 'g')
      return [b.exists('f'), b.read('g'), b.names()]
    },
    expect: [false, 'x', ['g']],
  },
  {
    fact: 'a rename over a file that the other has read',
    ask: (a, b) => {
      a.write('f', 'old')
      a.write('g', 'new')
      const before = [b.read('f'), b.read('g')]
      a.rename('g', 'f')
      return [before, b.read('f'), b.exists('g')]
    },
    expect: [['old', 'new'], 'new', false],
  },
  {
    fact: 'a rename into another directory',
    ask: (a, b) => {
      a.sh('mkdir d e; echo x > d/f')
      b.sh('ls d e; cat d/f')
      a.rename('d/f', 'e/f')
      return [b.names('d'), b.names('e'), b.read('e/f')]
    },
    expect: [[], ['f'], 'x\n'],
  },
  {
    fact: 'an exchange of two files',
    ask: (a, b) => {
      a.write('f', '1')
      a.write('g', '2')
      b.sh('cat f g')
      const exchanged = renameWith(a, 'f', 'g', RENAME_EXCHANGE)
      return [exchanged, b.read('f'), b.read('g')]
    },
    expect: [0, '2', '1'],
  },
  {
    fact: 'an exchange of a file and a directory',
    ask: (a, b) => {
      a.sh('mkdir d; echo x > d/x; echo f > f')
      b.sh('ls d; cat f')
      renameWith(a, 'f', 'd', RENAME_EXCHANGE)
      return [b.read('d'), b.names('f')]
    },
    expect: ['f\n', ['x']],
  },
  {
    fact: 'RENAME_NOREPLACE fails on a name that the other has just made',
    ask: (a, b) => {
      a.write('f', '1')
      const before = a.exists('g')
      b.write('g', '2')
      return [before, renameWith(a, 'f', 'g', RENAME_NOREPLACE), a.read('g')]
    },
    expect: [false, 'EEXIST', '2'],
  },
  {
    fact: 'a directory that was removed is gone',
    ask: (a, b) => {
      a.mkdir('d')
      const before = b.names('d')
      fs.rmdirSync(a.path('d'))
      return [before, outcome(() => b.names('d')), b.names()]
    },
    expect: [[], 'ENOENT', []],
  },
  {
    fact: 'rmdir fails while the other has put a file into it',
    ask: (a, b) => {
      a.mkdir('d')
      a.names('d')
      b.write('d/f', '')
      return [outcome(() => fs.rmdirSync(a.path('d'))), a.names('d')]
    },
    expect: ['ENOTEMPTY', ['f']],
  },
  {
    fact: 'mkdir, O_EXCL, symlink, link and mkfifo fail on a name that the other made',
    ask: (a, b) => {
      b.write('x', '')
      const before = a.exists('f')
      b.write('f', '')
      return [
        before,
        outcome(() => a.mkdir('f')),
        outcome(() => a.open('f', 'wx')),
        outcome(() => fs.symlinkSync('t', a.path('f'))),
        outcome(() => fs.linkSync(a.path('x'), a.path('f'))),
        result(libc.mknod(a.bytes('f'), 0o010644, 0)),
      ]
    },
    expect: [false, 'EEXIST', 'EEXIST', 'EEXIST', 'EEXIST', 'EEXIST'],
  },
  {
    fact: 'link counts rise and fall',
    ask: (a, b) => {
      a.write('f', '')
      const counts = [b.stat('f').nlink]
      fs.linkSync(a.path('f'), a.path('g'))
      counts.push(b.stat('f').nlink, b.stat('g').nlink)
      a.unlink('f')
      counts.push(b.stat('g').nlink)
      return counts
    },
    expect: [1n, 2n, 2n, 1n],
  },
  {
    fact: 'the link count falls when a name goes in a directory that was never listed there',
    ask: (a, b) => {
      a.sh('mkdir far near; echo x > far/f; ln far/f near/g')
      const before = b.stat('near/g').nlink
      a.unlink('far/f')
      return [before, b.stat('near/g').nlink]
    },
    expect: [2n, 1n],
  },
  {
    fact: 'the link count falls when a rename covers a name in a directory that was never listed there',
    ask: (a, b) => {
      a.sh('mkdir far near; echo x > far/f; echo y > far/z; ln far/f near/g')
      const before = b.stat('near/g').nlink
      a.rename('far/z', 'far/f')
      return [before, b.stat('near/g').nlink, b.read('near/g')]
    },
    expect: [2n, 1n, 'x\n'],
  },
  {
    fact: 'two names of one file have one inode number on both mounts',
    ask: (a, b) => {
      a.sh('echo x > f; ln f g')
      const inos = [a.stat('f'), a.stat('g'), b.stat('f'), b.stat('g')].map(({ ino }) => ino)
      return new Set(inos).size
    },
    expect: 1,
  },
  {
    fact: 'writing through one name is read through the other',
    ask: (a, b) => {
      a.sh('echo x > f; ln f g')
      b.read('g')
      a.write('f', 'changed')
      return b.read('g')
    },
    expect: 'changed',
  },
  {
    fact: 'the link count of a directory follows its subdirectories',
    ask: (a, b) => {
      a.mkdir('d')
      const before = b.stat('d').nlink
      a.sh('mkdir d/1 d/2')
      const during = b.stat('d').nlink
      a.sh('rmdir d/1')
      return [before, during, b.stat('d').nlink]
    },
    expect: [2n, 4n, 3n],
  },
  {
    fact: 'chmod',
    ask: (a, b) => {
      a.write('f', '')
      const before = b.stat('f').mode & 0o7777n
      fs.chmodSync(a.path('f'), 0o6751)
      return [before, b.stat('f').mode & 0o7777n]
    },
    expect: [0o644n, 0o6751n],
  },
  {
    fact: 'chown',
    ask: (a, b) => {
      a.write('f', '')
      b.stat('f')
      fs.chownSync(a.path('f'), 1234, 5678)
      const { uid, gid } = b.stat('f')
      return [uid, gid]
    },
    expect: [1234n, 5678n],
  },
  {
    fact: 'times, to the nanosecond',
    ask: (a, b) => {
      a.write('f', '')
      b.stat('f')
      a.sh('touch -m -d 2001-02-03T04:05:06.123456789Z f')
      return b.stat('f').mtimeNs
    },
    expect: 981173106123456789n,
  },
  {
    fact: 'a change time that follows every change of attributes',
    ask: (a, b) => {
      a.write('f', '')
      const before = b.stat('f').ctimeNs
      fs.chmodSync(a.path('f'), 0o600)
      return b.stat('f').ctimeNs === a.stat('f').ctimeNs && b.stat('f').ctimeNs > before
    },
    expect: true,
  },
  {
    fact: 'the modification time of a directory in which a name was made',
    ask: (a, b) => {
      a.mkdir('d')
      const before = b.stat('d').mtimeNs
      a.write('d/f', '')
      return [b.stat('d').mtimeNs > before, b.stat('d').mtimeNs === a.stat('d').mtimeNs]
    },
    expect: [true, true],
  },
  {
    fact: 'all attributes are the same on both, a file written by each',
    ask: (a, b) => {
      a.write('f', 'by a')
      b.append('f', ' and b')
      const look = (place: Place): unknown => {
        const { ino, mode, nlink, size, mtimeNs, ctimeNs, uid, gid } = place.stat('f')
        return [ino, mode, nlink, size, mtimeNs, ctimeNs, uid, gid].map(String)
      }
      return JSON.stringify(look(a)) === JSON.stringify(look(b))
    },
    expect: true,
  },
  {
    fact: 'extended attributes are set, replaced and removed',
    ask: (a, b) => {
      a.write('f', '')
      const seen = [getXattr(b, 'f', 'user.colour')]
      for (const value of ['red', 'green']) {
        setXattr(a, 'f', 'user.colour', value)
        seen.push(getXattr(b, 'f', 'user.colour'))
      }
      libc.removexattr(a.bytes('f'), Buffer.from('user.colour\0'))
      seen.push(getXattr(b, 'f', 'user.colour'))
      return seen
    },
    expect: ['ENODATA', 'red', 'green', 'ENODATA'],
  },
  {
    fact: 'a symlink that was read leads elsewhere after it was replaced',
    ask: (a, b) => {
      a.sh('echo 1 > one; echo 2 > two; ln -s one link')
      const before = [b.read('link'), fs.readlinkSync(b.path('link'))]
      a.sh('ln -sfn two link')
      return [...before, b.read('link'), fs.readlinkSync(b.path('link'))]
    },
    expect: ['1\n', 'one', '2\n', 'two'],
  },
  {
    fact: 'a file becomes a directory of the same name',
    ask: (a, b) => {
      a.write('x', 'file')
      b.read('x')
      a.sh('rm x; mkdir x; echo in > x/f')
      return [b.stat('x').isDirectory(), b.read('x/f')]
    },
    expect: [true, 'in\n'],
  },
  {
    fact: 'a directory becomes a file of the same name',
    ask: (a, b) => {
      a.sh('mkdir x; echo in > x/f')
      b.read('x/f')
      a.sh('rm -r x; echo file > x')
      return [b.read('x'), outcome(() => b.read('x/f'))]
    },
    expect: ['file\n', 'ENOTDIR'],
  },
  {
    fact: 'a deep tree that was moved is found at its new place, with all that was cached of it',
    ask: (a, b) => {
      a.sh('mkdir -p d/1/2/3; echo deep > d/1/2/3/f')
      b.read('d/1/2/3/f')
      a.rename('d/1', 'moved')
      return [b.read('moved/2/3/f'), b.exists('d/1'), b.sh('find . | sort')]
    },
    expect: ['deep\n', false, '.\n./d\n./moved\n./moved/2\n./moved/2/3\n./moved/2/3/f\n'],
  },
  {
    fact: 'rm -r of a tree in which the other has just read everything',
    ask: (a, b) => {
      a.sh('mkdir -p t/1 t/2; for i in 1 2 3 4 5; do echo $i > t/1/$i; echo $i > t/2/$i; done')
      b.sh('grep -r . t > /dev/null')
      a.sh('rm -r t')
      return [b.names(), outcome(() => b.read('t/1/1'))]
    },
    expect: [[], 'ENOENT'],
  },
  {
    fact: 'a move out of and back into a directory leaves one file',
    ask: (a, b) => {
      a.sh('mkdir d; echo x > d/f')
      b.read('d/f')
      a.rename('d/f', 'f')
      b.rename('f', 'd/f')
      return [a.names('d'), a.read('d/f'), a.exists('f')]
    },
    expect: [['f'], 'x\n', false],
  },
  {
    fact: 'a directory cannot be moved below itself, also when the other has moved it meanwhile',
    ask: (a, b) => {
      a.sh('mkdir -p d e')
      b.sh('ls d e')
      a.rename('d', 'e/d')
      return outcome(() => b.rename('e', 'e/d/e'))
    },
    expect: 'EINVAL',
  },
  {
    fact: 'FIFOs, sockets and devices',
    ask: (a, b) => {
      a.sh('mkfifo p; mknod c c 1 3; mknod b b 7 0')
      libc.mknod(a.bytes('s'), 0o140600, 0)
      return b.sh("stat -c '%F %t:%T' p c b s")
    },
    expect: 'fifo 0:0\ncharacter special file 1:3\nblock special file 7:0\nsocket 0:0\n',
  },
  {
    fact: 'a FIFO carries bytes between programs of one mount',
    ask: (a) => a.sh('mkfifo p; echo through > p & cat p'),
    expect: 'through\n',
  },
]
