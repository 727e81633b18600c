import { spawnSync } from 'node:child_process'
import * as fs from 'node:fs'
import { outcome, type Place, textOf } from './place.ts'
import type { TwoMountQuestion } from './question.ts'

const KiB = 1024

/** Reads a directory in small pieces. After each piece, names that were listed are renamed away and back elsewhere. */
const listWhileRenaming = `
import ctypes, os, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
fd = os.open('.', os.O_RDONLY)
buffer = ctypes.create_string_buffer(256)
listed = []
for piece in range(2000):
    length = libc.syscall(217 if os.uname().machine == 'x86_64' else 61, fd, buffer, 256)
    if length <= 0: break
    at = 0
    while at < length:
        size = struct.unpack_from('H', buffer, at + 16)[0]
        listed.append(buffer.raw[at + 19:at + size].split(b'\\0')[0].decode())
        at += size
    for name in listed[-3:]:
        if name.startswith('n'):
            os.rename(sys.argv[1] + '/' + name, sys.argv[1] + '/moved')
            os.rename(sys.argv[1] + '/moved', sys.argv[1] + '/' + name)
stayed = [name for name in listed if name.startswith('s')]
print(piece < 1999, len(stayed), len(set(stayed)))
`

/** Writes by kernel AIO with O_DIRECT, and reads through the cache as soon as the kernel says that it is done. */
const directBesideBuffered = `
import ctypes, mmap, os, struct
libc = ctypes.CDLL(None, use_errno=True)
x86 = os.uname().machine == 'x86_64'
setup, submit, getevents = (206, 209, 208) if x86 else (0, 2, 4)
context = ctypes.c_ulong(0)
assert libc.syscall(setup, 8, ctypes.byref(context)) == 0
direct, buffered = os.open('f', os.O_RDWR | os.O_DIRECT), os.open('f', os.O_RDONLY)
memory = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
stale = 0
for turn in range(100):
    byte = bytes([turn % 251 + 1])
    memory[:] = byte * 4096
    os.pread(buffered, 4096, 0)
    block = ctypes.create_string_buffer(struct.pack('<QIiHhIQQqQII', 0, 0, 0, 1, 0, direct, address, 4096, 0, 0, 0, 0), 64)
    pointers = (ctypes.c_void_p * 1)(ctypes.addressof(block))
    assert libc.syscall(submit, context, 1, pointers) == 1
    events = ctypes.create_string_buffer(32)
    assert libc.syscall(getevents, context, 1, 1, events, None) == 1
    assert struct.unpack('<QQqq', events.raw)[2] == 4096
    stale += os.pread(buffered, 1, 0) != byte
print(stale)
`

/** What takes two clients at the same file, at the same time or in turn. */
export const clients: readonly TwoMountQuestion[] = [
  {
    fact: 'an O_APPEND descriptor goes on behind what the other appended, also over page borders',
    ask: (a, b) => {
      a.write('f', '')
      const fd = a.open('f', 'a+')
      const expected: string[] = []
      for (let turn = 0; turn < 8; turn++) {
        const line = `${turn}`.repeat(1500 + turn)
        if (turn % 2 === 0) fs.writeSync(fd, line)
        else b.append('f', line)
        expected.push(line)
      }
      const own = textOf(fd, 20_000)
      fs.closeSync(fd)
      return [own, a.read('f'), b.read('f')].map((text) => text === expected.join(''))
    },
    expect: [true, true, true],
  },
  {
    fact: 'an O_APPEND descriptor goes on at the new end after the other cut the file',
    ask: (a, b) => {
      a.write('f', 'x'.repeat(9000))
      const fd = a.open('f', 'a')
      fs.writeSync(fd, 'more')
      b.truncate('f', 3)
      fs.writeSync(fd, 'end')
      b.write('f', '')
      fs.writeSync(fd, 'new')
      fs.closeSync(fd)
      return [a.read('f'), b.read('f')]
    },
    expect: ['new', 'new'],
  },
  {
    fact: '`>>` goes on at the new end after the other replaced a long file by a short one',
    ask: (a, b) => {
      a.sh('seq 2000 > f; cat f > /dev/null')
      b.sh('echo short > new; mv new f')
      a.sh('echo more >> f')
      return [a.read('f'), b.read('f')]
    },
    expect: ['short\nmore\n', 'short\nmore\n'],
  },
  {
    fact: 'a listing ends while the other renames entries, and has each that stayed once',
    ask: (a, b) => {
      a.sh('for i in $(seq 30); do : > n$i; : > s$i; done')
      return spawnSync('python3', ['-c', listWhileRenaming, b.directory], {
        cwd: a.directory,
        encoding: 'latin1',
      }).stdout
    },
    expect: 'True 30 30\n',
  },
  {
    fact: 'buffered reads see what O_DIRECT wrote asynchronously',
    ask: (a) => {
      a.write('f', 'x'.repeat(4096))
      return a.python(directBesideBuffered)
    },
    expect: '0\n',
  },
  {
    fact: 'copies made while the other writes have old or new bytes, and one made afterwards is exact',
    ask: (a, b) => {
      const length = 1 << 18
      a.write('f', 'o'.repeat(length))
      const script = `
import os, subprocess, sys
writer = subprocess.Popen([sys.executable, '-c', '''
import os
f = os.open("f", os.O_WRONLY)
for at in range(0, ${length}, 4096): os.pwrite(f, b"n" * 4096, at)
'''], cwd=${JSON.stringify(b.directory)})
strange = 0
done = False
while not done:
    done = writer.poll() is not None
    source, copy = os.open('f', os.O_RDONLY), os.open('g', os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    while os.copy_file_range(source, copy, ${length}): pass
    text = open('g', 'rb').read()
    strange += len(text) != ${length} or len(text.strip(b'on')) > 0
    for descriptor in (source, copy): os.close(descriptor)
print(strange, text == b'n' * ${length})
`
      return a.python(script)
    },
    expect: '0 True\n',
  },
  {
    fact: 'blocks of a sparse file: the same on both, before and after it is filled and punched',
    ask: (a, b) => {
      a.write('f', '')
      a.truncate('f', 1 << 24)
      const seen = [a, b].map((place) => Number(place.stat('f').blocks))
      a.patch('f', 1 << 22, 'x'.repeat(64 * KiB))
      seen.push(...[a, b].map((place) => Number(place.stat('f').blocks)))
      return seen
    },
    expect: [0, 0, 128, 128],
  },
  {
    fact: 'a name that the other made, removed and made again: O_EXCL fails, then wins, then fails',
    ask: (a, b) => {
      const seen: string[] = []
      const tryIt = (place: Place): void => {
        seen.push(outcome(() => fs.closeSync(place.open('lock', 'wx'))))
      }
      tryIt(b)
      tryIt(a)
      b.unlink('lock')
      tryIt(a)
      tryIt(b)
      a.unlink('lock')
      tryIt(b)
      return seen
    },
    expect: ['ok', 'EEXIST', 'ok', 'EEXIST', 'ok'],
  },
]
