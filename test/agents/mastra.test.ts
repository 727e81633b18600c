import { StaleFileError } from '@mastra/core/workspace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CairnFilesystem, CairnSandbox } from '@cairn/agents/mastra'
import type { Sandbox } from '@cairn/sandbox'
import { runSandboxTests } from '@cairn/sandbox/testing'
import { fixWithMastra } from '../../examples/agents/mastra.ts'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'
import { useAgentSite } from './site.ts'
import { through } from './through.ts'

const { server } = useAgentSite()

function filesystem(layer?: string, apiKey = server().apiKey): CairnFilesystem {
  return new CairnFilesystem({ server: server().url, apiKey, workspace: 'w', layer })
}

describe("Mastra's file system", () => {
  it('reads, writes, copies, moves, lists and removes', async () => {
    const fs = filesystem()
    await fs.writeFile('/src/a.ts', 'let a\n')
    await fs.appendFile('/src/a.ts', 'let b\n')
    expect(await fs.readFile('/src/a.ts', { encoding: 'utf8' })).toBe('let a\nlet b\n')
    expect(await fs.readFile('/src/a.ts')).toBeInstanceOf(Buffer)
    await fs.copyFile('/src/a.ts', '/src/deep/copy.ts')
    await fs.moveFile('/src/deep/copy.ts', '/src/deep/moved.ts')
    await fs.mkdir('/src/empty')
    expect(await fs.readdir('/src')).toEqual([
      { name: 'a.ts', type: 'file', size: 12 },
      { name: 'deep', type: 'directory', size: 1 },
      { name: 'empty', type: 'directory', size: 0 },
    ])
    const all = await fs.readdir('/src', { recursive: true, extension: '.ts' })
    expect(all.map(({ name }) => name)).toEqual(['a.ts', 'deep/moved.ts'])
    expect(await fs.readdir('/src', { recursive: true, maxDepth: 1 })).toHaveLength(3)
    expect(await fs.stat('/src/a.ts')).toMatchObject({ name: 'a.ts', type: 'file', size: 12 })
    await fs.deleteFile('/src/a.ts')
    await fs.rmdir('/src/empty')
    await fs.rmdir('/src', { recursive: true })
    expect(await fs.exists('/src')).toBe(false)
  })

  it('Mastra’s file system has the errors that the tools of Mastra know', async () => {
    const fs = filesystem()
    await fs.writeFile('/d/file', 'one\n')
    const failures: Readonly<Record<string, () => Promise<unknown>>> = {
      FileNotFoundError: () => fs.readFile('/none'),
      DirectoryNotFoundError: () => fs.readdir('/none'),
      IsDirectoryError: () => fs.deleteFile('/d'),
      NotDirectoryError: () => fs.rmdir('/d/file'),
      DirectoryNotEmptyError: () => fs.rmdir('/d'),
      FileExistsError: () => fs.moveFile('/d/file', '/d', { overwrite: false }),
    }
    for (const [name, fail] of Object.entries(failures))
      await expect(fail()).rejects.toMatchObject({ name })
    await expect(fs.writeFile('/d/file', 'x', { overwrite: false })).rejects.toMatchObject({
      name: 'FileExistsError',
    })
    await fs.deleteFile('/none', { force: true })
    await fs.rmdir('/none', { force: true })
    const { tokens } = server().cairn.workspace('w')
    const allow = [{ path: '/', operations: ['read', 'list'] as const }]
    const { secret } = await tokens.issue('reader', { ttlMs: 60_000, allow })
    await expect(filesystem(undefined, secret).writeFile('/d/file', 'x')).rejects.toMatchObject({
      name: 'PermissionError',
    })
  })

  it('refuses to overwrite what another one wrote since it was read', async () => {
    const fs = filesystem()
    await fs.writeFile('/shared', 'mine\n')
    const { modifiedAt: expectedMtime } = await fs.stat('/shared')
    await server()
      .cairn.workspace('w')
      .files.touch('/shared', { mtime: new Date(0) })
    const write = fs.writeFile('/shared', 'again\n', { expectedMtime })
    await expect(write).rejects.toBeInstanceOf(StaleFileError)
    await fs.writeFile('/shared', 'again\n', { expectedMtime: new Date(0) })
    expect(await fs.readFile('/shared', { encoding: 'utf8' })).toBe('again\n')
  })
})

function throughMastra(sandbox: Sandbox): Sandbox {
  const adapter = new CairnSandbox(sandbox)
  return through(sandbox, {
    exec: async (command, timeout) => {
      const result = await adapter.executeCommand!(command, [], { timeout })
      return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr }
    },
  })
}

describe.skipIf(noJail !== undefined)(`Mastra's sandbox (${noJail ?? 'as root'})`, () => {
  runSandboxTests(async () => {
    const setup = await openLocalSetup()
    const hidesStops = "Mastra's results have no field for it"
    return { ...setup, hidesStops, make: (workspace) => throughMastra(setup.make(workspace)) }
  })

  describe('an agent', () => {
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    it('the example: a scripted agent fixes a test with files and commands, and the layer is committed', async () => {
      const workspace = await setup.makeWorkspace()
      await workspace.files.write('/answer.sh', 'answer=41\n')
      await workspace.files.write('/test.sh', '. ./answer.sh; test "$answer" = 42 && echo passed\n')
      const test = ['mastra_workspace_execute_command', { command: 'sh test.sh' }] as const
      const path = '/answer.sh'
      const model = scriptedModel([
        test,
        ['mastra_workspace_read_file', { path }],
        ['mastra_workspace_edit_file', { path, old_string: '41', new_string: '42' }],
        test,
      ])
      const place = { name: workspace.name, server: setup.server, token: setup.secrets[0]! }
      const { directory } = setup
      expect(await fixWithMastra(place, model as never, { directory })).toBe('done')
      expect(JSON.stringify(model.doGenerateCalls.at(-1)?.prompt)).toContain('passed')
      expect(await workspace.files.readText(path)).toBe('answer=42\n')
    })

    it('a process in the background takes input, and is listed until it has ended', async () => {
      const sandbox = new CairnSandbox(setup.make())
      const handle = await sandbox.processes!.spawn('read -r line; echo "got $line"')
      expect(await sandbox.processes!.list()).toMatchObject([{ pid: handle.pid, running: true }])
      await handle.sendStdin('word\n')
      await handle.closeStdin()
      expect(await handle.wait()).toMatchObject({ exitCode: 0, stdout: 'got word\n' })
      await expect(handle.sendStdin('more')).rejects.toThrow(/has ended/)
      await expect(sandbox.networking.getPortUrl(80)).rejects.toThrow(/E2BSandbox/)
      await sandbox._stop()
      await sandbox._start()
      expect(await sandbox.executeCommand!('echo', ['a b'])).toMatchObject({ stdout: 'a b\n' })
      await sandbox._destroy()
    })
  })
})
