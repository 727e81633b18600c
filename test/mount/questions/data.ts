import * as fs from 'node:fs'
import {
  FALLOC_FL_KEEP_SIZE,
  FALLOC_FL_PUNCH_HOLE,
  FALLOC_FL_ZERO_RANGE,
  GiB,
  MiB,
} from '../../posix/constants.ts'
import { libc } from '../../posix/libc.ts'
import { outcome, pattern, type Place, result, textOf } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

interface Range {
  readonly mode: number
  readonly offset: number
  readonly length: number
}

function allocate(place: Place, name: string, { mode, offset, length }: Range): number | string {
  const fd = place.open(name, 'r+')
  const done = result(libc.fallocate(fd, mode, offset, length))
  fs.closeSync(fd)
  return done
}

function copyRange(
  place: Place,
  from: { readonly name: string; readonly offset: number },
  to: { readonly name: string; readonly offset: number },
  length: number,
): number | string {
  const [source, target] = [place.open(from.name), place.open(to.name, 'r+')]
  const offsets = [from, to].map(({ offset }) => BigInt64Array.of(BigInt(offset)))
  const done = result(libc.copyFileRange(source, offsets[0]!, target, offsets[1]!, length, 0))
  fs.closeSync(source)
  fs.closeSync(target)
  return done
}

/** Bytes in all the ways programs put them into files, read on the other mount. */
export const data: readonly TwoMountQuestion[] = [
  {
    fact: '5 MiB written in pieces of one byte to 1 MiB',
    ask: (a, b) => {
      const bytes = pattern(5 * MiB)
      const fd = a.open('f', 'w')
      for (let at = 0, piece = 1; at < bytes.length; at += piece, piece = Math.min(MiB, piece * 3))
        fs.writeSync(fd, bytes, at, Math.min(piece, bytes.length - at))
      fs.closeSync(fd)
      return fs.readFileSync(b.path('f')).equals(bytes)
    },
    expect: true,
  },
  {
    fact: '200 writes of one byte, backwards',
    ask: (a, b) => {
      const fd = a.open('f', 'w')
      for (let at = 199; at >= 0; at--) fs.writeSync(fd, pattern(1, at), 0, 1, at)
      fs.closeSync(fd)
      return fs.readFileSync(b.path('f')).equals(pattern(200))
    },
    expect: true,
  },
  {
    fact: 'overlapping writes at odd offsets: the later ones win',
    ask: (a, b) => {
      const expected = Buffer.alloc(900_000)
      const fd = a.open('f', 'w')
      for (let i = 0; i < 40; i++) {
        const [at, length] = [(i * 104_729) % 700_000, ((i * 7919) % 150_000) + 1]
        const piece = Buffer.alloc(length, i + 1)
        piece.copy(expected, at)
        fs.writeSync(fd, piece, 0, length, at)
      }
      fs.ftruncateSync(fd, expected.length)
      fs.closeSync(fd)
      return fs.readFileSync(b.path('f')).equals(expected)
    },
    expect: true,
  },
  {
    fact: 'both show the same number of blocks: of data, of an appended file, of a cut file',
    ofOurs: 'ext4 counts in blocks of 4 KiB',
    ask: (a, b) => {
      a.write('full', 'x'.repeat(MiB))
      a.write('grown', 'x'.repeat(5000))
      b.append('grown', 'y'.repeat(5000))
      a.write('cut', 'x'.repeat(MiB))
      b.truncate('cut', 1000)
      const names = ['full', 'grown', 'cut']
      return [a, b].map((place) => names.map((name) => Number(place.stat(name).blocks)))
    },
    expect: [
      [2048, 20, 2],
      [2048, 20, 2],
    ],
  },
  {
    fact: 'tar --sparse on the other mount archives the data, not zeros',
    ask: (a, b) => {
      a.write('f', '')
      b.stat('f')
      a.patch('f', 0, 'head')
      a.patch('f', MiB, 'middle')
      a.truncate('f', 2 * MiB)
      return b.sh('tar --sparse -cf - f | tar -xOf - | sha256sum') === a.sh('sha256sum < f')
    },
    expect: true,
  },
  {
    fact: 'a sparse gigabyte with data at both ends takes little room and reads as zeros between',
    ask: (a, b) => {
      a.write('f', 'head')
      a.patch('f', GiB - 4, 'tail')
      const { size, blocks } = b.stat('f')
      const fd = b.open('f')
      const middle = Buffer.alloc(4096, 1)
      fs.readSync(fd, middle, 0, 4096, GiB / 2)
      const tail = Buffer.alloc(4)
      fs.readSync(fd, tail, 0, 4, GiB - 4)
      fs.closeSync(fd)
      return [Number(size), blocks < 10_000n, middle.every((byte) => byte === 0), tail.toString()]
    },
    expect: [GiB, true, true, 'tail'],
  },
  {
    fact: 'a block of zeros that is written over data is zeros',
    ask: (a, b) => {
      a.write('f', pattern(600_000))
      fs.readFileSync(b.path('f'))
      a.patch('f', 0, new Uint8Array(300_000))
      const bytes = fs.readFileSync(b.path('f'))
      const tail = pattern(300_000, 300_000)
      return [
        bytes.subarray(0, 300_000).every((byte) => byte === 0),
        bytes.subarray(300_000).equals(tail),
      ]
    },
    expect: [true, true],
  },
  {
    fact: 'a large write that ends in zeros has its length',
    ask: (a, b) => {
      const bytes = Buffer.concat([pattern(200_000), Buffer.alloc(100_000)])
      a.write('f', bytes)
      return [b.stat('f').size, fs.readFileSync(b.path('f')).equals(bytes)]
    },
    expect: [300_000n, true],
  },
  {
    fact: 'fallocate makes room and grows the file',
    ask: (a, b) => {
      a.write('f', 'abc')
      return [allocate(a, 'f', { mode: 0, offset: 0, length: 10_000 }), b.stat('f').size]
    },
    expect: [0, 10_000n],
  },
  {
    fact: 'fallocate with KEEP_SIZE leaves the size',
    ask: (a, b) => {
      a.write('f', 'abc')
      const done = allocate(a, 'f', { mode: FALLOC_FL_KEEP_SIZE, offset: 0, length: 10_000 })
      return [done, b.read('f')]
    },
    expect: [0, 'abc'],
  },
  {
    fact: 'PUNCH_HOLE inside a page',
    ask: (a, b) => {
      a.write('f', 'abcdefgh')
      const mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
      return [allocate(a, 'f', { mode, offset: 2, length: 3 }), b.read('f'), a.read('f')]
    },
    expect: [0, 'ab\0\0\0fgh', 'ab\0\0\0fgh'],
  },
  {
    fact: 'PUNCH_HOLE over the end of the file leaves the size, and what is written behind it stays',
    ask: (a, b) => {
      a.write('f', 'abcdefgh')
      const mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE
      allocate(a, 'f', { mode, offset: 4, length: 100 })
      a.patch('f', 10, 'Z')
      return [b.read('f'), a.read('f')]
    },
    expect: ['abcd\0\0\0\0\0\0Z', 'abcd\0\0\0\0\0\0Z'],
  },
  {
    fact: 'ZERO_RANGE zeroes and grows',
    ask: (a, b) => {
      a.write('f', 'abcd')
      const done = allocate(a, 'f', { mode: FALLOC_FL_ZERO_RANGE, offset: 2, length: 4 })
      return [done, b.read('f'), a.read('f')]
    },
    expect: [0, 'ab\0\0\0\0', 'ab\0\0\0\0'],
  },
  {
    fact: 'ZERO_RANGE with KEEP_SIZE zeroes and does not grow',
    ask: (a, b) => {
      a.write('f', 'abcd')
      const mode = FALLOC_FL_ZERO_RANGE | FALLOC_FL_KEEP_SIZE
      return [allocate(a, 'f', { mode, offset: 2, length: 4 }), b.read('f'), a.read('f')]
    },
    expect: [0, 'ab\0\0', 'ab\0\0'],
  },
  {
    fact: 'COLLAPSE_RANGE is refused and nothing changes',
    ofOurs: 'ext4 has it',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(8192))
      return [allocate(a, 'f', { mode: 8, offset: 0, length: 4096 }), b.stat('f').size]
    },
    expect: ['EOPNOTSUPP', 8192n],
  },
  {
    fact: 'copy_file_range from one file to another',
    ask: (a, b) => {
      a.write('f', pattern(500_000))
      a.write('g', '')
      const copied = copyRange(a, { name: 'f', offset: 1000 }, { name: 'g', offset: 0 }, 400_000)
      const expected = pattern(400_000, 1000)
      const seen = [a, b].map((place) => fs.readFileSync(place.path('g')).equals(expected))
      return [copied, ...seen]
    },
    expect: [400_000, true, true],
  },
  {
    fact: 'copy_file_range inside one file, forwards',
    ask: (a, b) => {
      a.write('f', 'abcdefghij')
      const copied = copyRange(a, { name: 'f', offset: 0 }, { name: 'f', offset: 5 }, 4)
      return [copied, a.read('f'), b.read('f')]
    },
    expect: [4, 'abcdeabcdj', 'abcdeabcdj'],
  },
  {
    fact: 'copy_file_range inside one file refuses ranges that overlap',
    ask: (a) => {
      a.write('f', 'abcdefghij')
      return copyRange(a, { name: 'f', offset: 0 }, { name: 'f', offset: 2 }, 4)
    },
    expect: 'EINVAL',
  },
  {
    fact: 'copy_file_range over the end copies what there is',
    ask: (a, b) => {
      a.write('f', 'abc')
      a.write('g', '......')
      const copied = copyRange(a, { name: 'f', offset: 1 }, { name: 'g', offset: 3 }, 100)
      return [copied, b.read('g')]
    },
    expect: [2, '...bc.'],
  },
  {
    fact: 'copy_file_range of what the other mount has just written',
    ask: (a, b) => {
      b.write('f', pattern(300_000))
      a.write('g', '')
      copyRange(a, { name: 'f', offset: 0 }, { name: 'g', offset: 0 }, 300_000)
      return [
        fs.readFileSync(a.path('g')).equals(pattern(300_000)),
        fs.readFileSync(b.path('g')).equals(pattern(300_000)),
      ]
    },
    expect: [true, true],
  },
  {
    fact: 'a copy stays as it was when its source changes',
    ask: (a, b) => {
      a.write('f', 'first')
      a.sh('cp --reflink=auto f g')
      a.write('f', 'second')
      return [a.read('g'), b.read('g'), b.read('f')]
    },
    expect: ['first', 'first', 'second'],
  },
  {
    fact: 'writing into a copy leaves the source',
    ask: (a, b) => {
      a.write('f', pattern(300_000))
      a.write('g', '')
      copyRange(a, { name: 'f', offset: 0 }, { name: 'g', offset: 0 }, 300_000)
      a.patch('g', 1000, 'changed')
      return [
        fs.readFileSync(b.path('f')).equals(pattern(300_000)),
        b.read('g').slice(1000, 1007),
        fs.readFileSync(b.path('g')).subarray(1007).equals(pattern(298_993, 1007)),
      ]
    },
    expect: [true, 'changed', true],
  },
  {
    fact: 'reading behind the end gives nothing; a short read ends there',
    ask: (a, b) => {
      a.write('f', 'abc')
      const fd = b.open('f')
      const buffer = Buffer.alloc(10)
      const seen = [fs.readSync(fd, buffer, 0, 10, 3), fs.readSync(fd, buffer, 0, 10, 1)]
      fs.closeSync(fd)
      return seen
    },
    expect: [0, 2],
  },
  {
    fact: 'a file larger than the largest is refused',
    ask: (a) => {
      a.write('f', '')
      return outcome(() => a.truncate('f', Number.MAX_SAFE_INTEGER)) !== 'ok'
    },
    expect: true,
  },
  {
    fact: 'writev and readv of many pieces',
    ask: (a, b) => {
      const fd = a.open('f', 'w')
      fs.writevSync(
        fd,
        Array.from({ length: 100 }, (_, i) => pattern(101, i * 101)),
      )
      fs.closeSync(fd)
      return fs.readFileSync(b.path('f')).equals(pattern(10_100))
    },
    expect: true,
  },
  {
    fact: 'preallocated, written and cut, as downloads are',
    ask: (a, b) => {
      a.write('f', '')
      allocate(a, 'f', { mode: 0, offset: 0, length: MiB })
      a.patch('f', 500_000, pattern(100))
      a.truncate('f', 500_100)
      const bytes = fs.readFileSync(b.path('f'))
      return [bytes.length, bytes.subarray(500_000).equals(pattern(100)), bytes[499_999]]
    },
    expect: [500_100, true, 0],
  },
  {
    fact: 'a database page is written over again and again, and read after each',
    ask: (a, b) => {
      a.write('f', Buffer.alloc(65_536))
      for (let i = 1; i <= 20; i++) {
        a.patch('f', (i % 4) * 4096, Buffer.alloc(4096, i))
        const fd = b.open('f')
        const buffer = Buffer.alloc(4096)
        fs.readSync(fd, buffer, 0, 4096, (i % 4) * 4096)
        fs.closeSync(fd)
        if (!buffer.equals(Buffer.alloc(4096, i))) return i
      }
      return 'all'
    },
    expect: 'all',
  },
  {
    fact: 'an empty write changes nothing',
    ask: (a, b) => {
      a.write('f', 'abc')
      const fd = a.open('f', 'r+')
      const written = fs.writeSync(fd, '')
      const text = textOf(fd)
      fs.closeSync(fd)
      return [written, text, b.read('f')]
    },
    expect: [0, 'abc', 'abc'],
  },
]
