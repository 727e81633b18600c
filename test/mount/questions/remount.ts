import * as fs from 'node:fs'
import { GiB, MiB, SEEK_DATA, SEEK_HOLE } from '../../posix/constants.ts'
import { libc } from '../../posix/libc.ts'
import { getXattr, pattern, type Place, result, setXattr } from './place.ts'
import type { RemountQuestion } from './question.ts'

function seek(place: Place, name: string, offset: number, whence: number): number | string {
  const fd = place.open(name)
  const at = result(libc.lseek(fd, offset, whence))
  fs.closeSync(fd)
  return at
}

const everything = "stat -c '%n %F %a %u %g %h %s %t:%T %y %z %i'"

/** What was done is still so after a drain, in a mount that has nothing cached. */
export const remount: readonly RemountQuestion[] = [
  {
    fact: 'stat of every kind of file, to the nanosecond',
    make: (place) =>
      place.sh(
        'mkdir d; echo x > f; ln f g; ln -s f s; mkfifo p; mknod c c 5 1; mknod b b 8 300; chmod 4751 f; ' +
          `python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("k")'; chmod 1777 d; chown 12:34 g; ` +
          `touch -d 1960-01-01T00:00:00.000000001Z p; ${everything} d f g s p c b k`,
      ),
    look: (place) => place.sh(`${everything} d f g s p c b k`),
  },
  {
    fact: 'times of a directory whose names came and went',
    make: (place) => place.sh(`mkdir d; touch d/1 d/2; rm d/1; ${everything} d`),
    look: (place) => place.sh(`${everything} d`),
  },
  {
    fact: 'extended attributes, an empty one and one of 60,000 bytes among them',
    make: (place) => {
      place.write('f', '')
      setXattr(place, 'f', 'user.empty', '')
      setXattr(place, 'f', 'user.long', 'v'.repeat(60_000))
    },
    look: (place) => [
      getXattr(place, 'f', 'user.empty'),
      getXattr(place, 'f', 'user.long') === 'v'.repeat(60_000),
    ],
    expect: ['', true],
  },
  {
    fact: 'shared writes through memory after msync',
    make: (place) => {
      place.write('f', '.'.repeat(100_000))
      place.python(
        'import mmap\nf = open("f", "r+b"); m = mmap.mmap(f.fileno(), 0)\n' +
          'for i in range(0, 100_000, 1000): m[i:i+1] = b"M"\nm.flush()',
      )
    },
    look: (place) => place.read('f') === `M${'.'.repeat(999)}`.repeat(100),
    expect: true,
  },
  {
    fact: 'shared writes through memory without msync, unmapped by the end of the program',
    make: (place) => {
      place.write('f', '.'.repeat(10_000))
      place.python(
        'import mmap, os\nf = open("f", "r+b"); m = mmap.mmap(f.fileno(), 0)\nm[9999:10000] = b"M"\nos._exit(0)',
      )
    },
    look: (place) => place.read('f') === `${'.'.repeat(9999)}M`,
    expect: true,
  },
  {
    fact: 'a 20 MiB file written in pieces of 100,000 bytes',
    make: (place) => {
      const fd = place.open('f', 'w')
      const bytes = pattern(20 * MiB)
      for (let at = 0; at < bytes.length; at += 100_000)
        fs.writeSync(fd, bytes.subarray(at, at + 100_000))
      fs.closeSync(fd)
    },
    look: (place) => fs.readFileSync(place.path('f')).equals(pattern(20 * MiB)),
    expect: true,
  },
  {
    fact: 'that file backwards, and a byte here and there',
    make: (place) => place.write('f', pattern(3 * MiB)),
    look: (place) => {
      const fd = place.open('f')
      const expected = pattern(3 * MiB)
      const buffer = Buffer.alloc(70_001)
      for (let at = 3 * MiB - 70_001; at > 0; at -= 70_001) {
        fs.readSync(fd, buffer, 0, 70_001, at)
        if (!buffer.equals(expected.subarray(at, at + 70_001))) return at
      }
      fs.closeSync(fd)
      return 'all'
    },
    expect: 'all',
  },
  {
    fact: 'a sparse gigabyte: sizes, blocks and both ends',
    make: (place) => {
      place.write('f', 'head')
      place.patch('f', GiB - 4, 'tail')
    },
    look: (place) => {
      const { size, blocks } = place.stat('f')
      return [Number(size), blocks < 10_000n, place.sh('head -c 4 f; tail -c 4 f')]
    },
    expect: [GiB, true, 'headtail'],
  },
  {
    fact: 'SEEK_DATA and SEEK_HOLE find the hole of a sparse file',
    make: (place) => {
      place.write('f', pattern(MiB))
      place.patch('f', 64 * MiB, 'tail')
    },
    look: (place) => [
      seek(place, 'f', 0, SEEK_HOLE),
      seek(place, 'f', 2 * MiB, SEEK_DATA),
      seek(place, 'f', 64 * MiB, SEEK_HOLE),
    ],
    expect: [MiB, 64 * MiB, 64 * MiB + 4],
  },
  {
    fact: 'a hole that was punched reads as zeros',
    make: (place) => {
      place.write('f', pattern(MiB))
      place.sh('fallocate -p -o 262144 -l 524288 f')
    },
    look: (place) => {
      const expected = pattern(MiB)
      expected.fill(0, 262_144, 786_432)
      return fs.readFileSync(place.path('f')).equals(expected)
    },
    expect: true,
  },
  {
    fact: 'SEEK_DATA and SEEK_HOLE find a hole that was punched, where the blocks end',
    make: (place) => {
      place.write('f', pattern(MiB))
      place.sh('fallocate -p -o 262144 -l 524288 f')
    },
    look: (place) => [
      seek(place, 'f', 0, SEEK_HOLE),
      seek(place, 'f', 300_000, SEEK_DATA),
      seek(place, 'f', 786_432, SEEK_HOLE),
    ],
    expect: [262_144, 786_432, MiB],
  },
  {
    fact: 'a directory of 5,000 names',
    make: (place) => place.sh('mkdir d; cd d; seq -f f%g 5000 | xargs touch'),
    look: (place) => {
      const names = place.names('d')
      return [names.length, new Set(names).size, place.exists('d/f5000')]
    },
    expect: [5000, 5000, true],
  },
  {
    fact: '5,000 names listed while every second one is removed',
    make: (place) => place.sh('mkdir d; cd d; seq -f f%g 5000 | xargs touch'),
    look: (place) =>
      place.python(`
import os
seen = []
for entry in os.scandir("d"):
    seen.append(entry.name)
    if int(entry.name[1:]) % 2: os.unlink(entry.path)
print(len(seen), len(set(seen)), len(os.listdir("d")))`),
    expect: '5000 5000 2500\n',
  },
  {
    fact: 'a file that was cut and grown again has no old bytes',
    make: (place) => {
      place.write('f', 'x'.repeat(300_000))
      place.truncate('f', 100_001)
      place.truncate('f', 300_000)
    },
    look: (place) => place.read('f') === 'x'.repeat(100_001) + '\0'.repeat(199_999),
    expect: true,
  },
  {
    fact: 'a copy by range of a file that was changed afterwards',
    make: (place) => {
      place.write('f', pattern(600_000))
      place.sh('cp f g')
      place.write('f', 'gone')
    },
    look: (place) => fs.readFileSync(place.path('g')).equals(pattern(600_000)),
    expect: true,
  },
  {
    fact: 'three names of one file in three directories',
    make: (place) => place.sh('mkdir 1 2 3; echo x > 1/f; ln 1/f 2/f; ln 2/f 3/f; rm 1/f'),
    look: (place) => [
      place.stat('2/f').nlink,
      place.stat('2/f').ino === place.stat('3/f').ino,
      (place.write('3/f', 'new'), place.read('2/f')),
      (place.unlink('2/f'), place.stat('3/f').nlink),
    ],
    expect: [2n, true, 'new', 1n],
  },
  {
    fact: 'names that were renamed over, exchanged and removed leave exactly the last ones',
    make: (place) =>
      place.sh('echo 1 > a; echo 2 > b; mv a b; echo 3 > a; mkdir d; mv a d/a; mv b d/b; rm d/a'),
    look: (place) => place.sh('find . -type f | sort; cat d/b'),
    expect: './d/b\n1\n',
  },
  {
    fact: 'a symlink to nowhere and one to a directory',
    make: (place) => place.sh('ln -s nowhere s; mkdir d; echo x > d/f; ln -s d t'),
    look: (place) => [fs.readlinkSync(place.path('s')), place.read('t/f')],
    expect: ['nowhere', 'x\n'],
  },
]
