import { describe, expect, it } from 'vitest'
import { MemoryFileSystem } from '../../test/memory-file-system.ts'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { makeGate, until } from '../../test/waiting.ts'
import type { Answer } from './file-system.ts'

/** Answers writes when the gate opens. */
class SlowWrites extends MemoryFileSystem {
  readonly gate = makeGate()
  isSlow = false
  waiting = 0

  override write(...args: Parameters<MemoryFileSystem['write']>): Answer<number> {
    if (!this.isSlow) return super.write(...args)
    const [nodeid, offset, data, ...rest] = args
    const bytes = data.slice()
    this.waiting++
    return this.gate.opened.then(() => super.write(nodeid, offset, bytes, ...rest))
  }
}

/** In a client: writes a page of `n` past the kernel's pages with `io_submit`, and waits for the end of it. */
const submitDirectWrite = `
  const syscall = libc('int64_t syscall(int64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t)')
  const malloc = libc('uint64_t malloc(size_t)')
  const memset = libc('uint64_t memset(uint64_t, int, size_t)')
  const memcpy = libc('uint64_t memcpy(uint64_t, const void *, size_t)')
  const memread = libc('void *memcpy(void *, uint64_t, size_t)')
  const place = (bytes) => { const at = BigInt(malloc(bytes.length)); memcpy(at, bytes, bytes.length); return at }
  const [setup, getevents, submit] = [206, 208, 209]
  const page = BigInt(malloc(4096))
  memset(page, 'n'.charCodeAt(0), 4096)
  const fd = fs.openSync(dir + '/file', fs.constants.O_RDWR | fs.constants.O_DIRECT)
  const iocb = Buffer.alloc(64)
  iocb.writeUInt16LE(1, 16)
  iocb.writeUInt32LE(fd, 20)
  iocb.writeBigUInt64LE(page, 24)
  iocb.writeBigUInt64LE(4096n, 32)
  const list = Buffer.alloc(8)
  list.writeBigUInt64LE(place(iocb))
  const contextAt = place(Buffer.alloc(8))
  const made = syscall(setup, 8, contextAt, 0, 0, 0)
  const context = Buffer.alloc(8)
  memread(context, contextAt, 8)
  const submitted = syscall(submit, context.readBigUInt64LE(), 1, place(list), 0, 0)
  const ended = syscall(getevents, context.readBigUInt64LE(), 1, 1, place(Buffer.alloc(32)), 0)
  return [made, submitted, ended].map(Number)`

const readStart = `return fs.readFileSync(dir + '/file', 'latin1').slice(0, 4)`

/** The same, and the file stays open until `go`: on Linux 6.1 closing waits for a writer of the file. */
const readAndHold = `
  const fd = fs.openSync(dir + '/file')
  const bytes = Buffer.alloc(4)
  fs.readSync(fd, bytes)
  say()
  listen()
  return bytes.toString()`

describe.skipIf(!hasFuse || process.arch !== 'x64')(
  'direct I/O (needs root, /dev/fuse and x64)',
  () => {
    it('a page that is read during an asynchronous direct write is not kept after it', async () => {
      await using mount = await MemoryMount.serve(new SlowWrites())
      await mount.run(`fs.writeFileSync(dir + '/file', 'o'.repeat(4096))`)
      mount.fs.isSlow = true
      const writer = mount.start(submitDirectWrite)
      await until(() => mount.fs.waiting === 1)
      const reader = mount.start(readAndHold)
      await reader.said
      mount.fs.gate.open()
      expect(await writer.result).toEqual([0, 1, 1])
      reader.go()
      expect(await reader.result).toBe('oooo')
      expect(await mount.run(readStart)).toBe('nnnn')
    })
  },
)
