import { describe, expect, it } from 'vitest'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import type { ChangedNode } from './operation.ts'

describe.skipIf(!hasFuse)('a change that succeeds too late (needs root and /dev/fuse)', () => {
  it('a change that succeeds too late is named, and its lookup is taken back, when the one who asked was killed meanwhile', async () => {
    const late = Promise.withResolvers<ChangedNode>()
    await using mount = await MemoryMount.start({ onLateChange: late.resolve })
    const { fs } = mount
    const asked = Promise.withResolvers<void>()
    const gate = Promise.withResolvers<void>()
    const mkdir = fs.mkdir.bind(fs)
    fs.mkdir = (async (...request: Parameters<typeof mkdir>) => {
      asked.resolve()
      await gate.promise
      return mkdir(...request)
    }) as unknown as typeof mkdir

    const client = mount.start(`fs.mkdirSync(dir + '/slow')`)
    await asked.promise
    client.child.kill('SIGKILL')
    await expect(client.result).rejects.toThrow('SIGKILL')
    gate.resolve()

    expect(await late.promise).toEqual({ nodeid: fs.root.nodeid, name: 'slow' })
    expect(fs.root.children.get('slow')?.lookups).toBe(0)
  })
})
