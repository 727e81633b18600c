import { constants } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { makeGate, until } from '../../test/waiting.ts'
import { unmount } from './mounting.ts'

describe.skipIf(!hasFuse)('a mount (needs root and /dev/fuse)', () => {
  it('files: what was written is read back, and survives a rename', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      fs.writeFileSync(dir + '/a', 'one')
      fs.appendFileSync(dir + '/a', 'two')
      fs.mkdirSync(dir + '/d')
      fs.renameSync(dir + '/a', dir + '/d/b')
      const stat = fs.statSync(dir + '/d/b')
      return { text: fs.readFileSync(dir + '/d/b', 'utf8'), size: stat.size, mode: stat.mode & 0o777,
        list: fs.readdirSync(dir), inner: fs.readdirSync(dir + '/d'), old: fs.existsSync(dir + '/a') }`)
    expect(result).toEqual({
      text: 'onetwo',
      size: 6,
      mode: 0o644,
      list: ['d'],
      inner: ['b'],
      old: false,
    })
    expect(mount.errors).toEqual([])
  })

  it('large files: 3 MiB written and read in one piece are the same bytes', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      const data = Buffer.alloc(3 << 20, (_ => 'abcdefg')())
      fs.writeFileSync(dir + '/large', data)
      fs.copyFileSync(dir + '/large', dir + '/copy')
      const fd = fs.openSync(dir + '/copy', 'r+')
      fs.ftruncateSync(fd, (3 << 20) - 1)
      fs.fsyncSync(fd)
      fs.closeSync(fd)
      return [fs.readFileSync(dir + '/large').equals(data),
        fs.readFileSync(dir + '/copy').equals(data.subarray(0, -1))]`)
    expect(result).toEqual([true, true])
    expect(mount.fs.asked).toContain('fsync')
  })

  it('listings: two thousand names in a directory are each listed once', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      for (let i = 0; i < 2000; i++) fs.writeFileSync(dir + '/' + 'name'.repeat(1 + i % 50) + i, '')
      const names = fs.readdirSync(dir)
      return [names.length, new Set(names).size]`)
    expect(result).toEqual([2000, 2000])
  })

  it('names: any bytes but zero and slash go through', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      const name = Buffer.from([0xff, 0xfe, 0x0a, 0x41])
      fs.writeFileSync(Buffer.concat([Buffer.from(dir + '/'), name]), 'x')
      return fs.readdirSync(dir, 'buffer')[0].equals(name)`)
    expect(result).toBe(true)
    expect([...mount.fs.root.children.keys()]).toEqual(['\xff\xfe\nA'])
  })

  it('links: symbolic and hard ones lead to the file', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      fs.writeFileSync(dir + '/f', 'x')
      fs.symlinkSync('f', dir + '/s')
      fs.linkSync(dir + '/f', dir + '/h')
      return [fs.readlinkSync(dir + '/s'), fs.readFileSync(dir + '/s', 'utf8'), fs.statSync(dir + '/h').nlink]`)
    expect(result).toEqual(['f', 'x', 2])
  })

  it('times: before 1970 and to the nanosecond', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      fs.writeFileSync(dir + '/f', '')
      const utimensat = libc('int utimensat(int, const char *, int64_t *, int)')
      utimensat(-100, dir + '/f', [-5, 123456789, 7, 1], 0)
      const { atimeNs, mtimeNs } = fs.statSync(dir + '/f', { bigint: true })
      return [String(atimeNs), String(mtimeNs)]`)
    expect(result).toEqual(['-4876543211', '7000000001'])
  })

  it('extended attributes: set, got, listed, removed', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      const file = dir + '/f'
      fs.writeFileSync(file, '')
      const setxattr = libc('int setxattr(const char *, const char *, const void *, size_t, int)')
      const getxattr = libc('int64_t getxattr(const char *, const char *, void *, size_t)')
      const listxattr = libc('int64_t listxattr(const char *, void *, size_t)')
      const removexattr = libc('int removexattr(const char *, const char *)')
      const room = Buffer.alloc(64)
      return [setxattr(file, 'user.a', Buffer.from('value'), 5, 0),
        Number(getxattr(file, 'user.a', null, 0)), Number(getxattr(file, 'user.a', room, 2)),
        Number(getxattr(file, 'user.a', room, 64)), room.toString('latin1', 0, 5),
        Number(listxattr(file, room, 64)), room.toString('latin1', 0, 7),
        removexattr(file, 'user.a'), Number(getxattr(file, 'user.a', null, 0))]`)
    expect(result).toEqual([0, 5, -1, 5, 'value', 7, 'user.a\0', 0, -1])
  })

  it('statfs: the numbers of the file system', async () => {
    await using mount = await MemoryMount.start()
    const result = (await mount.run('return fs.statfsSync(dir)')) as Record<string, number>
    expect(result).toMatchObject({ bsize: 4096, blocks: 1000, bfree: 400, ffree: 77 })
  })

  it('rename: NOREPLACE refuses, EXCHANGE swaps, other flags are EINVAL', async () => {
    await using mount = await MemoryMount.start()
    const result = await mount.run(`
      fs.writeFileSync(dir + '/a', 'A')
      fs.writeFileSync(dir + '/b', 'B')
      const rename = libc('int renameat2(int, const char *, int, const char *, unsigned int)')
      const to = (flags) => rename(-100, dir + '/a', -100, dir + '/b', flags) === 0 ? 0 : koffi.errno()
      return [to(1), to(2), fs.readFileSync(dir + '/a', 'utf8'), to(4)]`)
    expect(result).toEqual([17, 0, 'B', 22])
  })

  it('forgotten: an unlinked file is kept while it is open, and not longer', async () => {
    await using mount = await MemoryMount.start()
    const before = mount.fs.nodes.size
    const client = mount.start(`
      const fd = fs.openSync(dir + '/f', 'w+')
      fs.writeSync(fd, 'still here')
      fs.unlinkSync(dir + '/f')
      return fs.readSync(fd, Buffer.alloc(100), 0, 100, 0)`)
    expect(await client.result).toBe(10)
    await until(() => mount.fs.nodes.size === before)
  })

  it('a thrown bug is EIO, is told, and the mount lives', async () => {
    await using mount = await MemoryMount.start()
    mount.fs.statfs = () => {
      throw new TypeError('a bug')
    }
    await expect(mount.run('fs.statfsSync(dir)')).rejects.toThrow('EIO')
    expect(mount.errors).toEqual([new TypeError('a bug')])
    expect(await mount.run('return fs.readdirSync(dir)')).toEqual([])
  })

  it('an answer that comes later is waited for, while others are answered', async () => {
    await using mount = await MemoryMount.start()
    mount.fs.put('slow', 'slow text')
    mount.fs.put('quick', 'quick text')
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'slow' ? opened : undefined)
    const slow = mount.start(`return fs.readFileSync(dir + '/slow', 'utf8')`)
    await until(() => mount.server.parkedCount === 1)
    expect(await mount.run(`return fs.readFileSync(dir + '/quick', 'utf8')`)).toBe('quick text')
    expect(mount.server.parkedCount).toBe(1)
    open()
    expect(await slow.result).toBe('slow text')
    expect(mount.server.parkedCount).toBe(0)
  })

  it('a listing that comes later is whole, while another directory is listed', async () => {
    await using mount = await MemoryMount.start()
    await mount.run(`fs.mkdirSync(dir + '/other'); fs.writeFileSync(dir + '/other/o', '')`)
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'list 1' ? opened : undefined)
    const slow = mount.start('return fs.readdirSync(dir)')
    await until(() => mount.server.parkedCount === 1)
    expect(await mount.run(`return fs.readdirSync(dir + '/other')`)).toEqual(['o'])
    open()
    expect(await slow.result).toEqual(['other'])
  })

  it('deadline: an answer that never comes is ETIMEDOUT', async () => {
    await using mount = await MemoryMount.start({ deadlineMs: 50 })
    mount.fs.hold = (what) => (what === 'never' ? new Promise(() => undefined) : undefined)
    await expect(mount.run(`fs.statSync(dir + '/never')`)).rejects.toThrow('ETIMEDOUT')
  })

  it('deadline: a change has none, so none is told to have failed and done later', async () => {
    await using mount = await MemoryMount.start({ deadlineMs: 50 })
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'make late' ? opened : undefined)
    await mount.run(`fs.mkdirSync(dir + '/sub')`)
    const made = mount.start(`fs.mkdirSync(dir + '/sub/late')`)
    await until(() => mount.server.parkedCount === 1)
    // Another request meets its deadline meanwhile.
    mount.fs.hold = (what) => (what === 'never' ? new Promise(() => undefined) : undefined)
    await expect(mount.run(`fs.statSync(dir + '/never')`)).rejects.toThrow('ETIMEDOUT')
    open()
    await made.result
  })

  it('killed: a program whose request is parked ends at once, and a late answer is harmless', async () => {
    await using mount = await MemoryMount.start()
    const node = mount.fs.put('slow', 'text')
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'slow' ? opened : undefined)
    const client = mount.start(`fs.statSync(dir + '/slow')`)
    await until(() => mount.server.parkedCount === 1)
    client.child.kill('SIGKILL')
    await expect(client.result).rejects.toThrow('SIGKILL')
    expect(mount.server.parkedCount).toBe(0)
    open()
    // Its lookup was counted and never delivered, so it is taken back.
    await until(() => node.lookups === 0)
    mount.fs.hold = undefined
    expect(await mount.run(`return fs.readFileSync(dir + '/slow', 'utf8')`)).toBe('text')
  })

  it('a signal with a handler does not end a parked request, as on a disk', async () => {
    await using mount = await MemoryMount.start()
    mount.fs.put('slow', 'text')
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'slow' ? opened : undefined)
    const client = mount.start(`
      process.on('SIGUSR2', () => {})
      say()
      return fs.statSync(dir + '/slow').size`)
    await client.said
    await until(() => mount.server.parkedCount === 1)
    client.child.kill('SIGUSR2')
    // Answered after the INTERRUPT, which came before this request.
    await mount.run('fs.statfsSync(dir)')
    expect(mount.server.parkedCount).toBe(1)
    open()
    expect(await client.result).toBe(4)
  })

  it('unmounted: serving ends by itself and the file system is told', async () => {
    await using mount = await MemoryMount.start()
    await mount.run('fs.readdirSync(dir)')
    await unmount(mount.dir)
    await mount.server.closed
    expect(mount.fs.isDestroyed).toBe(true)
    expect(mount.errors).toEqual([])
  })

  it('negotiated: no OPEN, no ATOMIC_O_TRUNC, no writeback, requests of 1 MiB', async () => {
    let info: unknown
    await using mount = await MemoryMount.start({ onInit: (agreed) => (info = agreed) })
    await mount.run(`
      fs.writeFileSync(dir + '/f', 'longer')
      const fd = fs.openSync(dir + '/f', ${constants.O_WRONLY | constants.O_TRUNC})
      fs.writeSync(fd, 'x')`)
    expect(info).toMatchObject({ maxWriteBytes: 1 << 20 })
    const { flags } = info as { flags: number }
    expect(flags & ((1 << 3) | (1 << 16) | (1 << 20))).toBe(0)
    expect(flags & (1 << 13)).not.toBe(0)
    expect(await mount.run(`return fs.readFileSync(dir + '/f', 'utf8')`)).toBe('x')
  })
})
