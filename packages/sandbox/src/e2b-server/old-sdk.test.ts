import { Sandbox } from 'e2b-2-45'
import { describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

describe.skipIf(!canServe)('the e2b package of version 2.45', () => {
  const test = serveForTests()
  const options = (): { apiKey: string; apiUrl: string; sandboxUrl: string } => {
    const { apiKey, url } = test.server
    return { apiKey, apiUrl: url, sandboxUrl: url }
  }

  it('makes a sandbox, works in it, pauses, comes back and ends it', async () => {
    const sandbox = await Sandbox.create('base', { ...options(), metadata: { of: 'old' } })
    const { stdout, exitCode } = await sandbox.commands.run('echo $((6 * 7))')
    expect([stdout, exitCode]).toEqual(['42\n', 0])
    await sandbox.files.write('/home/user/kept.txt', 'kept')
    const listed = await Sandbox.list({
      ...options(),
      query: { metadata: { of: 'old' } },
    }).nextItems()
    expect(listed.map(({ sandboxId }) => sandboxId)).toEqual([sandbox.sandboxId])
    await sandbox.pause()
    const again = await Sandbox.connect(sandbox.sandboxId, options())
    expect(await again.files.read('/home/user/kept.txt')).toBe('kept')
    expect((await again.files.list('/home/user')).map(({ name }) => name)).toContain('kept.txt')
    expect(await again.kill()).toBe(true)
    expect(await again.isRunning()).toBe(false)
  })
})
