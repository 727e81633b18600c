import { describe, expect, it } from 'vitest'
import { LockingFileSystem } from '../../test/locking-file-system.ts'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { until } from '../../test/waiting.ts'

const start = (): Promise<MemoryMount<LockingFileSystem>> =>
  MemoryMount.serve(new LockingFileSystem(), { locks: true })

/** In the body of a client: opens `file`; gives 0 or the errno. */
const flock = `
  const fd = fs.openSync(dir + '/file', 'a+')
  const flock = libc('int flock(int, int)')
  const lock = (how) => flock(fd, how) === 0 ? 0 : koffi.errno()`
const [exclusive, nonblocking] = [2, 4]

/** The layout of struct flock: type, whence, then start and length at 8 and 16, pid at 24. */
const fcntl = `
  const fd = fs.openSync(dir + '/file', 'a+')
  const fcntl = libc('int fcntl(int, int, ...)')
  const lock = (type, command = 6) => {
    const request = Buffer.alloc(32)
    request.writeInt16LE(type, 0)
    const result = fcntl(fd, command, 'uint8_t *', request)
    return result === 0 ? request.readInt16LE(0) : -koffi.errno()
  }`
const [write, unlocked, getLock, waitForLock] = [1, 2, 5, 7]

describe.skipIf(!hasFuse)('locks (need root and /dev/fuse)', () => {
  it('flock: asked of the file system, and ended by closing', async () => {
    await using mount = await start()
    const client = mount.start(`${flock}
      const first = lock(${exclusive})
      say()
      listen()
      fs.closeSync(fd)
      return first`)
    await client.said
    expect(mount.fs.held).toMatchObject([{ type: 'write', flock: true }])
    expect(await mount.run(`${flock}\n return lock(${exclusive | nonblocking})`)).toBe(11)
    client.go()
    expect(await client.result).toBe(0)
    await until(() => mount.fs.held.length === 0)
  })

  it('flock: a program that waits for it goes on when the holder is killed', async () => {
    await using mount = await start()
    const holder = mount.start(`${flock}\n lock(${exclusive})\n say()\n listen()`)
    await holder.said
    const waiter = mount.start(`${flock}\n return lock(${exclusive})`)
    await until(() => mount.fs.waiting === 1)
    holder.child.kill('SIGKILL')
    expect(await waiter.result).toBe(0)
  })

  it('fcntl: a range is asked of the file system, seen by others, and ended by closing', async () => {
    await using mount = await start()
    const client = mount.start(`${fcntl}
      const first = lock(${write})
      say()
      listen()
      fs.closeSync(fd)
      return first`)
    await client.said
    expect(mount.fs.held).toMatchObject([
      { type: 'write', flock: false, start: 0, end: Number.MAX_SAFE_INTEGER },
    ])
    const look = `${fcntl}\n return [lock(${write}), lock(${write}, ${getLock})]`
    expect(await mount.run(look)).toEqual([-11, write])
    client.go()
    expect(await client.result).toBe(write)
    await until(() => mount.fs.held.length === 0)
    expect(await mount.run(look)).toEqual([write, unlocked])
  })

  it('a program that is killed while it waits for a lock waits no more', async () => {
    await using mount = await start()
    const holder = mount.start(`${fcntl}\n lock(${write})\n say()\n listen()`)
    await holder.said
    const waiter = mount.start(`${fcntl}\n lock(${write}, ${waitForLock})`)
    await until(() => mount.fs.waiting === 1)
    waiter.child.kill('SIGKILL')
    await expect(waiter.result).rejects.toThrow('SIGKILL')
    await until(() => mount.fs.waiting === 0)
    expect(mount.fs.held).toHaveLength(1)
  })
})
