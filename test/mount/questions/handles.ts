import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs'
import { text } from 'node:stream/consumers'
import { outcome, pattern, textOf } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

/** Open files, and what they show of changes made on the other mount. */
export const handles: readonly TwoMountQuestion[] = [
  {
    fact: 'a file that was removed there and is open here keeps its bytes',
    ask: (a, b) => {
      a.write('f', 'kept')
      const fd = a.open('f')
      b.unlink('f')
      const seen = [a.exists('f'), textOf(fd), fs.fstatSync(fd).nlink]
      fs.closeSync(fd)
      return seen
    },
    expect: [false, 'kept', 0],
  },
  {
    fact: 'bytes never read before are there after the other removed the file',
    ask: (a, b) => {
      b.write('f', pattern(600_000))
      const fd = a.open('f')
      b.unlink('f')
      const buffer = Buffer.alloc(600_000)
      const length = fs.readSync(fd, buffer, 0, 600_000, 0)
      fs.closeSync(fd)
      return [length, buffer.equals(pattern(600_000))]
    },
    expect: [600_000, true],
  },
  {
    fact: 'a removed file that is open is written, truncated and read',
    ask: (a) => {
      const fd = a.open('f', 'w+')
      a.unlink('f')
      fs.writeSync(fd, 'after its name')
      fs.ftruncateSync(fd, 5)
      const seen = [textOf(fd), fs.fstatSync(fd).size, fs.fstatSync(fd).nlink]
      fs.closeSync(fd)
      return seen
    },
    expect: ['after', 5, 0],
  },
  {
    fact: 'a removed file that is open on both: what one writes the other reads',
    ask: (a, b) => {
      a.write('f', '......')
      const [here, there] = [a.open('f', 'r+'), b.open('f', 'r+')]
      textOf(there)
      a.unlink('f')
      fs.writeSync(here, 'A', 0)
      const seen = [textOf(there)]
      fs.writeSync(there, 'B', 5)
      seen.push(textOf(here))
      fs.closeSync(here)
      fs.closeSync(there)
      return seen
    },
    expect: ['A.....', 'A....B'],
  },
  {
    fact: 'a file that was covered by a rename there keeps its bytes here',
    ask: (a, b) => {
      a.write('f', 'old')
      const fd = a.open('f')
      b.write('g', 'new')
      b.rename('g', 'f')
      const seen = [textOf(fd), a.read('f')]
      fs.closeSync(fd)
      return seen
    },
    expect: ['old', 'new'],
  },
  {
    fact: 'an open file is followed through a rename there',
    ask: (a, b) => {
      a.write('f', 'one')
      const fd = a.open('f', 'a')
      b.mkdir('d')
      b.rename('f', 'd/g')
      fs.writeSync(fd, ' two')
      fs.closeSync(fd)
      return [b.read('d/g'), a.read('d/g')]
    },
    expect: ['one two', 'one two'],
  },
  {
    fact: 'an open file shows what the other writes into it',
    ask: (a, b) => {
      a.write('f', 'aaaa')
      const fd = a.open('f')
      const seen = [textOf(fd)]
      b.patch('f', 1, 'BB')
      seen.push(textOf(fd))
      b.append('f', 'C')
      seen.push(textOf(fd))
      b.truncate('f', 2)
      seen.push(textOf(fd))
      fs.closeSync(fd)
      return seen
    },
    expect: ['aaaa', 'aBBa', 'aBBaC', 'aB'],
  },
  {
    fact: 'fstat follows the other: size, mode, link count',
    ask: (a, b) => {
      a.write('f', 'x')
      const fd = a.open('f')
      fs.fstatSync(fd)
      b.append('f', 'yz')
      fs.chmodSync(b.path('f'), 0o600)
      fs.linkSync(b.path('f'), b.path('g'))
      const { size, mode, nlink } = fs.fstatSync(fd)
      fs.closeSync(fd)
      return [size, mode & 0o777, nlink]
    },
    expect: [3, 0o600, 2],
  },
  {
    fact: 'SEEK_END is where the other has left the end',
    ask: (a, b) => {
      a.write('f', 'x')
      a.stat('f')
      b.append('f', '23456')
      return a.python('import os; print(os.lseek(os.open("f", os.O_RDONLY), 0, os.SEEK_END))')
    },
    expect: '6\n',
  },
  {
    fact: 'two descriptors of one opening share their position',
    ask: (a, b) => {
      a.write('f', 'abcdef')
      return b.python(
        'import os; x = os.open("f", os.O_RDONLY); y = os.dup(x); print(os.read(x, 2), os.read(y, 2))',
      )
    },
    expect: "b'ab' b'cd'\n",
  },
  {
    fact: 'a descriptor that a child inherited writes after its parent has closed it',
    ask: (a, b) => {
      a.sh('(sleep 0.2; echo child) > f & wait')
      return b.read('f')
    },
    expect: 'child\n',
  },
  {
    fact: 'O_TRUNC on one empties what the other has open',
    ask: (a, b) => {
      a.write('f', 'long text')
      const fd = a.open('f')
      textOf(fd)
      fs.closeSync(b.open('f', 'w'))
      const seen = [textOf(fd), fs.fstatSync(fd).size]
      fs.closeSync(fd)
      return seen
    },
    expect: ['', 0],
  },
  {
    fact: 'O_SYNC writes are there at once',
    ask: (a, b) => {
      const fd = a.open('f', fs.constants.O_CREAT | fs.constants.O_WRONLY | fs.constants.O_SYNC)
      fs.writeSync(fd, 'synced')
      const seen = b.read('f')
      fs.closeSync(fd)
      return seen
    },
    expect: 'synced',
  },
  {
    fact: 'O_DSYNC writes are there at once',
    ask: (a, b) => {
      const fd = a.open('f', fs.constants.O_CREAT | fs.constants.O_WRONLY | fs.constants.O_DSYNC)
      fs.writeSync(fd, 'synced')
      const seen = b.read('f')
      fs.closeSync(fd)
      return seen
    },
    expect: 'synced',
  },
  {
    fact: 'a file without a name (O_TMPFILE) is refused or gets one by linkat, and then is seen',
    ofOurs: 'the mount has no O_TMPFILE',
    ask: (a, b) => {
      const tried = spawnSync(
        'python3',
        [
          '-c',
          'import os\nfd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)\nos.write(fd, b"named")\n' +
            'os.link(f"/proc/self/fd/{fd}", "f", follow_symlinks=True)',
        ],
        { cwd: a.directory, encoding: 'utf8' },
      )
      return tried.status === 0 ? b.read('f') : tried.stderr.includes('Operation not supported')
    },
    expect: true,
  },
  {
    fact: 'a program that runs from the mount goes on after the other replaced it',
    ask: async (a, b) => {
      // Longer than a shell reads at once: its end is read after it was replaced.
      const padding = '# a line that says nothing\n'.repeat(5000)
      const wait = 'echo started\nuntil [ -e go ]; do sleep 0.01; done\n'
      a.write('run', `#!/bin/sh\n${wait}${padding}echo old\n`)
      fs.chmodSync(a.path('run'), 0o755)
      const running = spawn(a.path('run'), { cwd: a.directory })
      const ended = text(running.stdout)
      await once(running.stdout, 'readable')
      b.sh("printf '#!/bin/sh\\necho new\\n' > run2; chmod +x run2; mv run2 run; : > go")
      return [await ended, a.sh('./run')]
    },
    expect: ['started\nold\n', 'new\n'],
  },
  {
    fact: 'a working directory that the other renamed: names in it are found, and `..` once its new name is known',
    ask: (a, b) => {
      a.sh('mkdir -p d/in e; echo x > d/in/f')
      const fd = fs.openSync(a.path('d/in'), 'r')
      b.rename('d/in', 'e/out')
      a.stat('e/out')
      const look = `cd /proc/self/fd/3 && cat f && echo new > g && ls .. && ls`
      const seen = execFileSync('/bin/sh', ['-ec', look], {
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe', fd],
      })
      fs.closeSync(fd)
      return [seen, b.names('e/out')]
    },
    expect: ['x\nout\nf\ng\n', ['f', 'g']],
  },
  {
    fact: 'a working directory that the other removed is empty, and nothing can be made in it',
    ask: (a, b) => {
      a.mkdir('d')
      const fd = fs.openSync(a.path('d'), 'r')
      fs.rmdirSync(b.path('d'))
      const inside = `/proc/self/fd/${fd}`
      const seen = [
        outcome(() => fs.writeFileSync(`${inside}/f`, '')),
        fs.readdirSync(inside).length,
        fs.fstatSync(fd).nlink,
      ]
      fs.closeSync(fd)
      return seen
    },
    expect: ['ENOENT', 0, 0],
  },
  {
    fact: 'a file made again under its old name is another file',
    ask: (a, b) => {
      a.write('f', 'first')
      const fd = b.open('f')
      a.unlink('f')
      a.write('f', 'second')
      const seen = [textOf(fd), b.read('f'), b.stat('f').ino !== BigInt(fs.fstatSync(fd).ino)]
      fs.closeSync(fd)
      return seen
    },
    expect: ['first', 'second', true],
  },
  {
    fact: 'fsync and fdatasync of a file and of its directory succeed',
    ask: (a) =>
      a.python(
        'import os\nf = os.open("f", os.O_CREAT | os.O_RDWR)\nos.write(f, b"x")\nos.fsync(f); os.fdatasync(f)\n' +
          'd = os.open(".", os.O_RDONLY)\nos.fsync(d); os.sync(); print("done")',
      ),
    expect: 'done\n',
  },
]
