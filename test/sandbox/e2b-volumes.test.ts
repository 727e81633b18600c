import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectE2B, type E2BServer, serveE2B } from '@cairn/sandbox'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { noJail } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`volumes of the E2B server (${noJail ?? 'as root'})`, () => {
  let directory: string
  let server: TestServer
  let sandboxes: E2BServer
  let e2b: Awaited<ReturnType<typeof connectE2B>>

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-volumes-'))
    server = await startServer()
    const credential = { server: server.url, key: server.apiKey }
    sandboxes = await serveE2B({
      hostSystem: true,
      data: join(directory, 'e2b'),
      cairn: credential,
    })
    const { url, apiKey } = sandboxes
    process.env['E2B_VOLUME_API_URL'] = url
    e2b = await connectE2B({ apiKey, url })
  })
  afterAll(async () => {
    delete process.env['E2B_VOLUME_API_URL']
    await sandboxes.close()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })

  it('volumes of the E2B server are workspaces: written by the SDK, read by Cairn, and gone with each other', async () => {
    const volume = await e2b.Volume.create('shared')
    await volume.makeDir('/deep/er', { force: true })
    const written = await volume.writeFile('/deep/er/note.txt', 'by the SDK', { mode: 0o600 })
    expect(written).toMatchObject({
      path: '/deep/er/note.txt',
      type: 'file',
      size: 10,
      mode: 0o600,
    })
    const { cairn } = server
    const text = await cairn.workspace('shared').files.readText('/deep/er/note.txt')
    expect(text).toBe('by the SDK')
    await cairn.workspace('shared').files.write('/by-cairn', 'by Cairn')
    await expect(volume.readFile('/by-cairn')).resolves.toBe('by Cairn')
    const names = (await volume.list('/', { depth: 3 })).map(({ path }) => path)
    expect(names.toSorted()).toEqual(['/by-cairn', '/deep', '/deep/er', '/deep/er/note.txt'])
    await expect(volume.updateMetadata('/by-cairn', { mode: 0o640 })).resolves.toMatchObject({
      mode: 0o640,
    })
    await volume.remove('/deep')
    await expect(volume.exists('/deep')).resolves.toBe(false)
    await expect(volume.readFile('/deep')).rejects.toMatchObject({
      name: 'VolumePathNotFoundError',
    })
    await expect(e2b.Volume.list()).resolves.toMatchObject([{ name: 'shared' }])
    await expect(e2b.Volume.destroy(volume.volumeId)).resolves.toBe(true)
    await expect(e2b.Volume.destroy(volume.volumeId)).resolves.toBe(false)
    await expect(cairn.workspaces.get('shared')).rejects.toMatchObject({
      code: 'workspace_missing',
    })
  })

  it('volumes of the E2B server are mounted in sandboxes, outlive them, and keep what was written before a kill', async () => {
    const volume = await e2b.Volume.create('work')
    const first = await e2b.Sandbox.create({ volumeMounts: { '/mnt/volume': volume } })
    await first.commands.run('mkdir -p /mnt/volume/repo && echo by-command > /mnt/volume/repo/a')
    await first.files.write('/mnt/volume/repo/b', 'by-envd')
    await first.kill()
    const second = await e2b.Sandbox.create({ volumeMounts: { '/mnt/data': 'work' } })
    const { stdout } = await second.commands.run('cat repo/a repo/b', { cwd: '/mnt/data' })
    expect(stdout).toBe('by-command\nby-envd')
    await second.pause({ keepMemory: false })
    const again = await e2b.Sandbox.connect(second.sandboxId)
    await expect(again.files.read('/mnt/data/repo/b')).resolves.toBe('by-envd')
    const { stdout: env } = await again.commands.run('env; cat /proc/*/environ 2>/dev/null || true')
    expect(env).not.toContain(server.apiKey)
    await again.kill()
  })

  it('volumes of the E2B server that are not there, or have no clean place, are refused', async () => {
    const create = (volumeMounts: Record<string, string>): Promise<unknown> =>
      e2b.Sandbox.create({ volumeMounts })
    await expect(create({ '/mnt/x': 'no-such' })).rejects.toThrow(/no volume/)
    await expect(create({ '/mnt/../etc': 'work' })).rejects.toThrow(/absolute path/)
  })
})
