import * as fs from 'node:fs'
import { pattern, type Place } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

const MiB = 1 << 20

function isPattern(place: Place, name: string, length: number): boolean {
  return fs.readFileSync(place.path(name)).equals(pattern(length))
}

/** What the kernel and the daemon keep is never older than what the other mount did. */
export const caches: readonly TwoMountQuestion[] = [
  {
    fact: 'one byte changed in the middle of a cached megabyte',
    ask: (a, b) => {
      a.write('f', pattern(MiB))
      const before = isPattern(b, 'f', MiB)
      a.patch('f', 500_000, Uint8Array.of(~pattern(1, 500_000)[0]! & 0xff))
      const now = fs.readFileSync(b.path('f'))
      const expected = pattern(MiB)
      expected[500_000] = ~expected[500_000]! & 0xff
      return [before, now.equals(expected)]
    },
    expect: [true, true],
  },
  {
    fact: 'a write over a page border of a cached file',
    ask: (a, b) => {
      a.write('f', 'a'.repeat(8192))
      b.read('f')
      a.patch('f', 4090, 'BBBBBBBBBBBB')
      return b.read('f').slice(4086, 4106)
    },
    expect: 'aaaaBBBBBBBBBBBBaaaa',
  },
  {
    fact: 'a cached file is cut inside a page and grown: zeros',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(10_000))
      b.read('f')
      a.truncate('f', 5000)
      const size = b.stat('f').size
      a.truncate('f', 10_000)
      return [size, b.read('f') === 'x'.repeat(5000) + '\0'.repeat(5000)]
    },
    expect: [5000n, true],
  },
  {
    fact: 'a cached file is cut and grown on the mount that cached it, after the other wrote',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(10_000))
      b.read('f')
      a.patch('f', 0, 'yy')
      b.truncate('f', 3)
      b.truncate('f', 6)
      return [a.read('f'), b.read('f')]
    },
    expect: ['yyx\0\0\0', 'yyx\0\0\0'],
  },
  {
    fact: 'growth by a write far behind the end',
    ask: (a, b) => {
      a.write('f', 'head')
      b.read('f')
      a.patch('f', 10_000, 'tail')
      return b.read('f') === `head${'\0'.repeat(9996)}tail`
    },
    expect: true,
  },
  {
    fact: 'both write into different pages of one file in turn',
    ask: (a, b) => {
      a.write('f', '.'.repeat(40_960))
      for (let page = 0; page < 10; page++)
        (page % 2 === 0 ? a : b).patch('f', page * 4096, `${page}`)
      const heads = (place: Place): string => {
        const text = place.read('f')
        return Array.from({ length: 10 }, (_, page) => text[page * 4096]).join('')
      }
      return [heads(a), heads(b)]
    },
    expect: ['0123456789', '0123456789'],
  },
  {
    fact: 'both write into the same page of one file in turn',
    ask: (a, b) => {
      a.write('f', '.'.repeat(20))
      for (let i = 0; i < 20; i++) (i % 2 === 0 ? a : b).patch('f', i, i % 2 === 0 ? 'a' : 'b')
      return [a.read('f'), b.read('f')]
    },
    expect: ['ab'.repeat(10), 'ab'.repeat(10)],
  },
  {
    fact: 'twenty rewrites of growing and shrinking length are each read whole',
    ask: (a, b) => {
      for (let i = 0; i < 20; i++) {
        const text = `${i}`.repeat(((i * 7919) % 9000) + 1)
        a.write('f', text)
        if (b.read('f') !== text) return i
      }
      return 'all'
    },
    expect: 'all',
  },
  {
    fact: 'a punched hole in a cached file',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(12_288))
      b.read('f')
      a.sh('fallocate -p -o 4096 -l 4096 f')
      return b.read('f') === 'x'.repeat(4096) + '\0'.repeat(4096) + 'x'.repeat(4096)
    },
    expect: true,
  },
  {
    fact: 'a copied range in a cached file',
    ask: (a, b) => {
      a.write('from', 'y'.repeat(4096))
      a.write('to', 'x'.repeat(12_288))
      b.read('to')
      a.python(
        'import os\nx = os.open("from", os.O_RDONLY); y = os.open("to", os.O_RDWR)\n' +
          'os.copy_file_range(x, y, 4096, 0, 4096)',
      )
      return b.read('to') === 'x'.repeat(4096) + 'y'.repeat(4096) + 'x'.repeat(4096)
    },
    expect: true,
  },
  {
    fact: 'a file mapped into memory shows what the other wrote, when it is mapped anew',
    ask: (a, b) => {
      a.write('f', 'old')
      const read =
        'import mmap\nf = open("f", "rb")\nprint(mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)[:])'
      const before = b.python(read)
      a.write('f', 'new!')
      return [before, b.python(read)]
    },
    expect: ["b'old'\n", "b'new!'\n"],
  },
  {
    fact: 'a mapping that stays shows what the other writes into it',
    ask: (a, b) => {
      b.write('f', 'old')
      return a.python(`
import mmap
f = open("f", "rb")
m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
before = m[:]
with open(${JSON.stringify(b.path('f'))}, "r+b") as g: g.write(b"new")
print(before, m[:])`)
    },
    expect: "b'old' b'new'\n",
  },
  {
    fact: 'shared writes through memory are there after msync',
    ask: (a, b) => {
      a.write('f', '.'.repeat(8192))
      b.read('f')
      a.python(
        'import mmap\nf = open("f", "r+b"); m = mmap.mmap(f.fileno(), 0)\n' +
          'm[0:1] = b"A"; m[8191:8192] = b"Z"; m.flush()',
      )
      const text = b.read('f')
      return [text[0], text[1], text[8191], text.length]
    },
    expect: ['A', '.', 'Z', 8192],
  },
  {
    fact: 'O_DIRECT reads what the other wrote through its cache, and the other way round',
    ask: (a, b) => {
      const direct = (write: string): string => `
import os, mmap
f = os.open("f", os.O_RDWR | os.O_DIRECT | os.O_CREAT)
m = mmap.mmap(-1, 4096)
${write}
`
      a.write('f', 'a'.repeat(4096))
      const first = b.python(direct('os.preadv(f, [m], 0); print(m[:2])'))
      b.python(direct('m.write(b"b" * 4096); os.pwritev(f, [m], 0)'))
      return [first, a.read('f').slice(0, 2)]
    },
    expect: ["b'aa'\n", 'bb'],
  },
  {
    fact: 'O_DIRECT writing does not leave the old bytes in its own cache',
    ask: (a) => {
      a.write('f', 'a'.repeat(8192))
      a.read('f')
      a.python(
        'import os, mmap\nf = os.open("f", os.O_RDWR | os.O_DIRECT)\nm = mmap.mmap(-1, 4096)\n' +
          'm.write(b"d" * 4096); os.pwritev(f, [m], 4096)',
      )
      return a.read('f') === 'a'.repeat(4096) + 'd'.repeat(4096)
    },
    expect: true,
  },
  {
    fact: 'a new file shows what was written through its descriptor and what through memory',
    ask: (a, b) => [
      a.python(`
import os, mmap
f = os.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.write(f, b"." * 8192)
m = mmap.mmap(f, 8192)
m[0:1] = b"M"; m[5000:5001] = b"M"
os.pwrite(f, b"D", 1); os.pwrite(f, b"D", 5001)
print(m[0:3], m[5000:5003], os.pread(f, 3, 5000), open("f", "rb").read()[0:3])`),
      b.read('f').slice(0, 3),
    ],
    expect: ["b'MD.' b'MD.' b'MD.' b'MD.'\n", 'MD.'],
  },
  {
    fact: 'small pieces that cross pages, written and read back through a new file',
    ask: (a, b) => [
      a.python(`
import os
f = os.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL)
for i in range(30): os.write(f, bytes([97 + i % 26]) * 1000)
print(os.pread(f, 4, 3998), open("f", "rb").read()[8189:8194], os.fstat(f).st_size)`),
      b.read('f').slice(11_999, 12_001),
    ],
    expect: ["b'ddee' b'iiiii' 30000\n", 'lm'],
  },
  {
    fact: 'a new file that is written to loses its capabilities',
    ask: (a) =>
      a.python(`
import os
f = os.open("f", os.O_RDWR | os.O_CREAT | os.O_EXCL)
os.write(f, b"before")
os.setxattr("f", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
os.write(f, b"after")
print(os.listxattr("f"), open("f").read())`),
    expect: '[] beforeafter\n',
  },
  {
    fact: 'a negative entry in a directory that was never listed',
    ask: (a, b) => {
      a.mkdir('d')
      const before = [b.exists('d/x'), b.exists('d/x')]
      a.write('d/x', '')
      a.unlink('d/x')
      return [...before, b.exists('d/x'), (a.mkdir('d/x'), b.exists('d/x'))]
    },
    expect: [false, false, false, true],
  },
  {
    fact: 'a name goes and comes ten times, and is seen each time',
    ask: (a, b) => {
      const seen: boolean[] = []
      for (let i = 0; i < 10; i++) {
        a.write('f', '')
        seen.push(b.exists('f'))
        a.unlink('f')
        seen.push(b.exists('f'))
      }
      return seen.every((there, i) => there === (i % 2 === 0))
    },
    expect: true,
  },
  {
    fact: 'a listing under way (a page at a time) shows every name that stayed, once',
    ask: (a, b) => {
      a.sh('for i in $(seq 120); do : > f$i; done')
      return b.python(`
import os
seen = []
for i, entry in enumerate(os.scandir(".")):
    seen.append(entry.name)
    if i == 20:
        for n in range(1, 120, 2): os.unlink(os.path.join(${JSON.stringify(a.directory)}, f"f{n}"))
stayed = [f"f{n}" for n in range(2, 121, 2)]
print(len(seen) == len(set(seen)), all(name in set(seen) for name in stayed))`)
    },
    expect: 'True True\n',
  },
  {
    fact: 'rm -r of many names on one while the other lists them again and again',
    ask: (a, b) => {
      a.sh('mkdir d; cd d; for i in $(seq 120); do : > f$i; done')
      return b.python(`
import os, subprocess
rm = subprocess.Popen(["rm", "-r", ${JSON.stringify(a.path('d'))}])
while rm.poll() is None:
    try: names = os.listdir("d")
    except FileNotFoundError: names = []
    if len(names) != len(set(names)): print("twice")
print(rm.returncode, os.path.exists("d"))`)
    },
    expect: '0 False\n',
  },
  {
    fact: 'a directory that is listed again and again while the other moves it: no name is lost',
    ask: (a, b) => {
      a.sh('mkdir -p x/t y; for i in $(seq 50); do echo $i > x/t/$i; done')
      return b.python(`
import os, subprocess
there = os.open("x/t", os.O_RDONLY)
script = "for i in 1 2 3 4 5 6 7 8; do mv x/t y/t; mv y/t x/t; done"
moving = subprocess.Popen(["/bin/sh", "-ec", script], cwd=${JSON.stringify(a.directory)})
looks, seen = 0, set()
while moving.poll() is None:
    looks += 1
    seen.add(len(os.listdir(there)))
print(moving.returncode, looks > 8, seen, len(os.listdir("x/t")), os.listdir("y"))`)
    },
    expect: '0 True {50} 50 []\n',
  },
]
