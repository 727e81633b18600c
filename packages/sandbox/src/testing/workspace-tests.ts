import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Workspace } from '@cairn/sdk'
import type { Sandbox } from '../sandbox.ts'
import type { SandboxSetup } from './sandbox-contract.ts'

/** What a workspace adds: files that outlive the machine. */
export function runWorkspaceTests(open: () => Promise<SandboxSetup>): void {
  let setup: SandboxSetup
  const sandboxes: Sandbox[] = []
  const make = (workspace: { readonly name: string; readonly layer?: string }): Sandbox => {
    const sandbox = setup.make({ name: workspace.name })
    sandboxes.push(sandbox)
    return sandbox
  }
  const readText = async (workspace: Workspace, path: string): Promise<string> =>
    new TextDecoder().decode(await workspace.files.read(path))

  beforeAll(async () => {
    setup = await open()
  })
  afterAll(async () => {
    for (const sandbox of sandboxes) await sandbox.dispose({ drain: false }).catch(() => undefined)
    await setup.close()
  })

  it('has it mounted before the first command, and its files are the workspace', async () => {
    const workspace = await setup.makeWorkspace()
    await workspace.files.write('/before.txt', 'was there')
    const sandbox = make({ name: workspace.name })
    expect(await sandbox.exec('cat before.txt; pwd')).toEqual({
      code: 0,
      stdout: `was there${sandbox.workDir}\n`,
      stderr: '',
    })
    await sandbox.exec('mkdir -p made && echo inside > made/file')
    await workspace.files.write('/outside.txt', 'from outside')
    expect(await sandbox.fs.read('outside.txt')).toBe('from outside')
    const status = await sandbox.status()
    expect(status).toMatchObject({
      state: 'running',
      workspace: { name: workspace.name, mountPath: sandbox.workDir, connected: true },
    })
    await sandbox.dispose()
    expect(await readText(workspace, '/made/file')).toBe('inside\n')
    expect(await sandbox.status()).toEqual({ state: 'ended' })
  })

  it('has at the server what was flushed, and goes on', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = make({ name: workspace.name })
    const started = await sandbox.start('echo started > started')
    expect(await started.wait()).toBe(0)
    await sandbox.flush()
    expect(await readText(workspace, '/started')).toBe('started\n')
    expect(await sandbox.exec('cat started')).toMatchObject({ stdout: 'started\n' })
    await sandbox.dispose()
  })

  it('names the tool call of commands and files in the log', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = make({ name: workspace.name })
    await sandbox.exec('echo one > by-exec', { toolCall: 'call-exec' })
    const started = await sandbox.start('echo two > by-start', { toolCall: 'call-start' })
    await started.wait()
    await sandbox.fs.write('made/by-write', 'grüße\n', { toolCall: 'call-write' })
    await sandbox.fs.write('made/empty', '', { toolCall: 'call-write' })
    expect(await sandbox.fs.read('made/by-write')).toBe('grüße\n')
    await sandbox.dispose()
    for (const [path, id] of [
      ['/by-exec', 'call-exec'],
      ['/by-start', 'call-start'],
      ['/made/by-write', 'call-write'],
    ] as const)
      expect((await workspace.blame(path)).origins).toMatchObject([{ toolCall: id }])
    expect(await readText(workspace, '/made/empty')).toBe('')
  })

  it('runs nothing where there is no workspace', async () => {
    const sandbox = make({ name: 'no-such-workspace' })
    await expect(sandbox.exec('touch /tmp/ran')).rejects.toThrow(/no-such-workspace/)
    await expect(sandbox.fs.write('lost.txt', 'lost')).rejects.toThrow(/no-such-workspace/)
    await expect(sandbox.start('touch /tmp/ran')).rejects.toThrow(/no-such-workspace/)
  })

  it('brings everything to the server before it pauses, and goes on', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = make({ name: workspace.name })
    await sandbox.exec('seq 1 1000 > numbers')
    await sandbox.pause()
    expect((await readText(workspace, '/numbers')).split('\n')).toHaveLength(1001)
    expect(await sandbox.status()).toMatchObject({ state: 'paused' })
    await sandbox.resume()
    expect(await sandbox.exec('tail -1 numbers; echo more >> numbers')).toMatchObject({
      stdout: '1000\n',
    })
    await sandbox.dispose()
    expect(await readText(workspace, '/numbers')).toMatch(/1000\nmore\n$/)
  })

  it('forks into sandboxes on layers of their own', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = make({ name: workspace.name })
    await sandbox.exec('echo base > file')
    const forks = await sandbox.fork(2)
    sandboxes.push(...forks)
    await Promise.all(forks.map((fork, at) => fork.exec(`echo attempt ${at} >> file`)))
    for (const [at, fork] of forks.entries())
      expect(await fork.fs.read('file')).toBe(`base\nattempt ${at}\n`)
    expect(await sandbox.fs.read('file')).toBe('base\n')
    for (const fork of forks) await fork.dispose()
    const layers: string[] = []
    for await (const { id } of workspace.layers.list()) layers.push(id)
    expect(layers).toHaveLength(2)
    await sandbox.dispose()
  })
}
