import { describe, expect, it } from 'vitest'
import { MemoryFileSystem } from '../../test/memory-file-system.ts'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { makeGate, until } from '../../test/waiting.ts'

describe.skipIf(!hasFuse)('a file system that is not there yet (needs root and /dev/fuse)', () => {
  it('a program that asks waits, and is answered when it is', async () => {
    const { opened, open } = makeGate()
    await using mount = await MemoryMount.serve(new MemoryFileSystem(), {}, opened)
    const clients = ['a', 'b'].map((name) =>
      mount.start(`
        fs.writeFileSync(dir + '/${name}', 'text of ${name}')
        return fs.readFileSync(dir + '/${name}', 'utf8')`),
    )
    await until(() => mount.server.parkedCount > 0)
    expect(mount.fs.asked).toEqual([])
    open()
    for (const [i, { result }] of clients.entries())
      expect(await result).toBe(`text of ${['a', 'b'][i]}`)
    expect(mount.errors).toEqual([])
  })

  it('a program that is killed meanwhile ends at once, and the file system is not called for it', async () => {
    const { opened, open } = makeGate()
    await using mount = await MemoryMount.serve(new MemoryFileSystem(), {}, opened)
    const client = mount.start(`fs.mkdirSync(dir + '/d')`)
    await until(() => mount.server.parkedCount > 0)
    client.child.kill('SIGKILL')
    await expect(client.result).rejects.toThrow('SIGKILL')
    open()
    expect(await mount.run('return fs.readdirSync(dir)')).toEqual([])
    expect(mount.fs.asked).not.toContain('mkdir')
  })

  it('an open that takes too long is ETIMEDOUT', async () => {
    const never = new Promise<void>(() => undefined)
    const options = { deadlineMs: 50 }
    await using mount = await MemoryMount.serve(new MemoryFileSystem(), options, never)
    await expect(mount.run(`fs.statSync(dir + '/f')`)).rejects.toThrow('ETIMEDOUT')
  })
})
