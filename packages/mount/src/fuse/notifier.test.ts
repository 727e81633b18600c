import { describe, expect, it } from 'vitest'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { makeGate, until } from '../../test/waiting.ts'
import { Notifier } from './notifier.ts'

describe.skipIf(!hasFuse)('notifications (need root and /dev/fuse)', () => {
  it('a name that was remembered as absent is seen after invalidateEntry, not before', async () => {
    await using mount = await MemoryMount.start()
    const notifier = new Notifier(mount.fd)
    const look = `return fs.existsSync(dir + '/late')`
    expect(await mount.run(look)).toBe(false)
    mount.fs.put('late', 'x')
    expect(await mount.run(look)).toBe(false)
    notifier.invalidateEntry(mount.fs.root.nodeid, 'late')
    await notifier.settled()
    expect(await mount.run(look)).toBe(true)
    await notifier.close()
  })

  it('new bytes and a new size are read after invalidateInode, not before', async () => {
    await using mount = await MemoryMount.start()
    const notifier = new Notifier(mount.fd)
    const node = mount.fs.put('f', 'old')
    const look = `return fs.readFileSync(dir + '/f', 'utf8')`
    expect(await mount.run(look)).toBe('old')
    node.data = Buffer.from('new and longer')
    node.size = node.data.length
    expect(await mount.run(look)).toBe('old')
    notifier.invalidateInode(node.nodeid)
    await notifier.settled()
    expect(await mount.run(look)).toBe('new and longer')
    await notifier.close()
  })

  it('new attributes are seen after invalidateAttributes', async () => {
    await using mount = await MemoryMount.start()
    const notifier = new Notifier(mount.fd)
    const node = mount.fs.put('f', 'x')
    const look = `return fs.statSync(dir + '/f').mode & 0o777`
    expect(await mount.run(look)).toBe(0o644)
    node.mode = (node.mode & ~0o777) | 0o600
    notifier.invalidateAttributes(node.nodeid)
    await notifier.settled()
    expect(await mount.run(look)).toBe(0o600)
    await notifier.close()
  })

  it('a deleted name is gone for the program that has just seen it', async () => {
    await using mount = await MemoryMount.start()
    const notifier = new Notifier(mount.fd)
    const node = mount.fs.put('f', 'x')
    const client = mount.start(`
      const seen = [fs.existsSync(dir + '/f')]
      say()
      listen()
      return [...seen, fs.existsSync(dir + '/f')]`)
    await client.said
    mount.fs.unlink(mount.fs.root.nodeid, 'f')
    notifier.deleteEntry(mount.fs.root.nodeid, node.nodeid, 'f')
    await notifier.settled()
    client.go()
    expect(await client.result).toEqual([true, false])
    await notifier.close()
  })

  it('a notification into a directory with a parked lookup waits; answers go on, and it is written after', async () => {
    await using mount = await MemoryMount.start()
    const notifier = new Notifier(mount.fd)
    const { opened, open } = makeGate()
    mount.fs.put('slow', 'text')
    mount.fs.hold = (what) => (what === 'slow' ? opened : undefined)
    // mkdir looks its name up under the directory's lock, which the notification wants, too.
    const client = mount.start(`fs.mkdirSync(dir + '/slow')`)
    await until(() => mount.server.parkedCount === 1)
    notifier.invalidateEntry(mount.fs.root.nodeid, 'other')
    const settled = notifier.settled()
    expect(await mount.run('return fs.statfsSync(dir).blocks')).toBe(1000)
    expect(notifier.queued).toBe(1)
    open()
    await settled
    expect(notifier.queued).toBe(0)
    await expect(client.result).rejects.toThrow('EEXIST')
    await notifier.close()
  })

  it('what the kernel does not know is no error, and settled is at once when nothing is queued', async () => {
    await using mount = await MemoryMount.start()
    const errors: Error[] = []
    const notifier = new Notifier(mount.fd, (error) => errors.push(error))
    await mount.run('fs.readdirSync(dir)')
    notifier.invalidateInode(4711)
    notifier.invalidateEntry(4711, 'unknown')
    notifier.deleteEntry(mount.fs.root.nodeid, 4711, 'unknown')
    await notifier.settled()
    expect(notifier.queued).toBe(0)
    await notifier.settled()
    expect(errors).toEqual([])
    await notifier.close()
  })
})
