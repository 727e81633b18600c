import { type ByteString, type Ino, type Name, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { makeGate, until } from '../../test/waiting.ts'
import { Notifier } from '../fuse/notifier.ts'
import type { Caches } from '../kernel/caches.ts'
import { notifyingCaches } from './notifying-caches.ts'

describe.skipIf(!hasFuse)('what the kernel is to forget (needs root and /dev/fuse)', () => {
  let mount: MemoryMount
  let names: Notifier
  let files: Notifier
  let caches: Caches

  beforeEach(async () => {
    mount = await MemoryMount.start()
    ;[names, files] = [new Notifier(mount.fd), new Notifier(mount.fd)]
    const kernel = { nodeid: Number, isFile: (ino: Ino) => ino !== rootIno }
    caches = notifyingCaches({ names, files }, kernel)
  })
  afterEach(async () => {
    await Promise.all([names.close(), files.close()])
    await mount[Symbol.asyncDispose]()
  })

  it('a file is forgotten without waiting for a name in a directory that a program changes', async () => {
    const node = mount.fs.put('f' as ByteString, 'old')
    const read = `return fs.readFileSync(dir + '/f', 'utf8')`
    expect(await mount.run(read)).toBe('old')
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'slow' ? opened : undefined)
    const client = mount.start(`fs.mkdirSync(dir + '/slow')`)
    await until(() => mount.server.parkedCount === 1)
    caches.entry(rootIno, 'other' as Name)
    node.data = Buffer.from('new')
    caches.bytes(node.nodeid as Ino, 0, 0)
    await caches.filesSettled()
    expect(await mount.run(read)).toBe('new')
    expect(names.queued).toBe(1)
    open()
    await client.result
    await caches.settled()
  })

  it('attributes are forgotten that a program was told of before, and that the kernel takes in later', async () => {
    const node = mount.fs.put('f' as ByteString, 'old')
    const measure = `return fs.statSync(dir + '/f').size`
    const { opened, open } = makeGate()
    mount.fs.hold = (what) => (what === 'f' ? opened : undefined)
    const client = mount.start(measure)
    await until(() => mount.server.parkedCount === 1)
    caches.lookedUp(rootIno, node.nodeid as Ino)
    open()
    expect(await client.result).toBe(3)
    await caches.settled()
    node.data = Buffer.from('longer')
    node.size = node.data.length
    expect(await mount.run(measure)).toBe(6)
  })
})
