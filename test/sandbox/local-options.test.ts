import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { LocalSandbox, LocalSandboxOptions } from '@cairn/sandbox'
import { findTraces } from './jail-fixture.ts'
import { type LocalSetup, noJail, openLocalSetup } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`options of LocalSandbox (${noJail ?? 'as root'})`, () => {
  let setup: LocalSetup
  const made: LocalSandbox[] = []
  const make = (options?: LocalSandboxOptions): LocalSandbox => {
    const sandbox = setup.make(undefined, options)
    made.push(sandbox)
    return sandbox
  }
  beforeAll(async () => {
    setup = await openLocalSetup()
  })
  afterAll(async () => {
    for (const sandbox of made) await sandbox.dispose()
    await setup.close()
  })

  it('fs stays inside workDir and allowPaths, by where paths really lead', async () => {
    const sandbox = make({ workDir: '/home/user/project', allowPaths: ['/tmp'] })
    await sandbox.exec('echo secret > ../outside; ln -s ../outside link; ln -s .. up; ln -s /tmp t')
    for (const path of ['../outside', 'link', 'up/outside', '/etc/passwd', 'up/new'])
      await expect(sandbox.fs.read(path)).rejects.toThrow(`Path outside sandbox: ${path}`)
    await expect(sandbox.fs.write('up/new', 'x')).rejects.toThrow('Path outside sandbox: up/new')
    await expect(sandbox.fs.glob('*', { cwd: 'up' })).rejects.toThrow('Path outside sandbox')
    await sandbox.fs.write('t/allowed', 'fine')
    expect(await sandbox.fs.read('/tmp/allowed')).toBe('fine')
    expect([sandbox.fs.isInside('a'), sandbox.fs.isInside('../outside')]).toEqual([true, false])
  })

  it('fs goes everywhere in the sandbox without the boundary, and never outside of it', async () => {
    const sandbox = make({ enforceBoundary: false })
    expect(await sandbox.fs.read('/etc/hostname')).toBe(`${sandbox.getSandboxId()}\n`)
    await sandbox.exec(`ln -s ${setup.directory} host`)
    await expect(sandbox.fs.read('host/anything')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('workDir is made, is the user\u2019s, and may have a dot in it', async () => {
    const sandbox = make({ baseDir: '/srv/.work/deep' })
    expect(sandbox.workDir).toBe('/srv/.work/deep')
    await sandbox.fs.write('a.ts', '')
    expect(await sandbox.fs.glob('*.ts')).toEqual(['a.ts'])
    expect(await sandbox.exec('pwd; touch mine')).toEqual({
      code: 0,
      stdout: '/srv/.work/deep\n',
      stderr: '',
    })
  })

  it('a workDir of this machine is bound or refused, and never an empty directory', async () => {
    const workDir = join(setup.directory, 'project')
    await mkdir(workDir, { mode: 0o777 })
    await writeFile(join(workDir, 'there.txt'), 'there')
    await expect(make({ workDir }).init()).rejects.toThrow(
      `cannot use ${workDir} as workDir: it is on this machine`,
    )
    const binds = [{ source: workDir, target: workDir, writable: true }]
    expect(await make({ workDir, binds }).exec('cat there.txt')).toMatchObject({ stdout: 'there' })
  })

  it('envs are for commands; what is dangerous is not run; watching can be off', async () => {
    const sandbox = make({ envs: { GREETING: 'hello' }, watchFiles: false })
    expect(await sandbox.exec('echo $GREETING')).toMatchObject({ stdout: 'hello\n' })
    expect(await sandbox.exec('rm -rf /')).toMatchObject({ code: 1, stdout: '' })
    expect(await sandbox.watchFiles(['x'], () => undefined)).toMatch(/^watch-disabled-/)
  })

  it('one that ends by itself says so, and can be made again', async () => {
    const sandbox = make()
    await sandbox.init()
    const [pid] = findTraces(sandbox.getSandboxId()).filter((trace) => /^\d+$/.test(trace))
    process.kill(Number(pid), 'SIGKILL')
    await expect.poll(() => sandbox.status()).toEqual({ state: 'ended' })
    await expect(sandbox.exec('true')).rejects.toThrow(/init/)
    await sandbox.init()
    expect(await sandbox.exec('echo again')).toMatchObject({ stdout: 'again\n' })
  })

  it('a LocalSandbox without an init has no id', () => {
    expect(() => make().getSandboxId()).toThrow(/not initialized/)
  })
})
