import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  E2BSandbox,
  type E2BSandboxOptions,
  registerSandboxes,
  SandboxFactory,
} from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'
import { type E2BSetup, openE2BSetup } from './e2b-setup.ts'
import { noJail } from './local-setup.ts'

/** What a program keeps of a sandbox. */
const stored = (sandbox: object): E2BSandboxOptions => ({ ...sandbox })

const pick = ({ sandboxId }: E2BSandbox): { sandboxId: string } => ({ sandboxId: sandboxId! })

/** Whatever looks like one of our keys in the memory of every process, as root finds it. */
async function searchMemory(sandbox: E2BSandbox): Promise<string> {
  const program = `
import re, glob
for maps in glob.glob('/proc/[0-9]*/maps'):
    try:
        with open(maps) as lines, open(maps.replace('maps', 'mem'), 'rb') as memory:
            for line in lines:
                if ' rw-p ' not in line: continue
                start, end = (int(n, 16) for n in line.split()[0].split('-'))
                memory.seek(start)
                for found in set(re.findall(rb'cairn_[\\w.-]{40,}', memory.read(end - start))):
                    print(found.decode())
    except OSError: pass
`
  const e2b = sandbox.getE2BInstance()
  await e2b.files.write('/tmp/search.py', program)
  return (await e2b.commands.run('python3 /tmp/search.py', { user: 'root' })).stdout
}

describe('E2BSandbox without a machine', () => {
  it('says so where one is needed, and makes none where it is only asked', async () => {
    const sandbox = new E2BSandbox({ apiKey: 'e2b_x' })
    expect(() => sandbox.getSandboxId()).toThrow(/not initialized/)
    expect(() => sandbox.getE2BInstance()).toThrow(/not initialized/)
    expect(() => sandbox.getHostUrl(80)).toThrow(/not initialized/)
    await expect(sandbox.isRunning()).resolves.toBe(false)
    await expect(sandbox.status()).resolves.toEqual({ state: 'new' })
    await sandbox.dispose()
    expect(sandbox.toJSON()).toEqual({
      kind: 'e2b',
      workDir: '/home/user',
      sandboxId: null,
      template: 'base',
    })
  })

  it('shows only what may be stored', () => {
    const sandbox = new E2BSandbox({
      apiKey: 'e2b_secret',
      envs: { TOKEN: 'secret' },
      workspace: { name: 'w', server: 'http://cairn', token: 'secret' },
    })
    expect(Object.keys(sandbox).toSorted()).toEqual(
      ['attached', 'kind', 'sandboxId', 'template', 'workDir', 'workspace'].toSorted(),
    )
    expect(JSON.stringify(stored(sandbox))).not.toContain('secret')
    expect(sandbox.workDir).toBe('/home/user/workspace')
  })

  it('uses the object of the SDK that it is given', async () => {
    let killed = 0
    const stand = {
      sandboxId: 'given',
      commands: { run: () => Promise.reject(Object.assign(new Error('no'), { exitCode: 9 })) },
      kill: () => Promise.resolve(void killed++),
      getHost: (port: number) => `${port}-given.e2b.app`,
    } as unknown as E2BSandbox['e2b']
    const sandbox = new E2BSandbox()
    sandbox.e2b = stand
    await expect(sandbox.exec('x')).resolves.toEqual({ code: 9, stdout: '', stderr: 'no' })
    expect(sandbox.getHostUrl(3000)).toBe('https://3000-given.e2b.app')
    await sandbox.dispose()
    expect([sandbox.e2b, killed]).toEqual([null, 1])
  })

  it('E2BSandbox without a machine is made by a factory, which says what it does not know', async () => {
    const factory = new SandboxFactory()
    expect(factory.create({ kind: 'e2b' })).toBeInstanceOf(E2BSandbox)
    expect(() => factory.create({ kind: 'docker' })).toThrow(
      'Sandbox factory not registered: docker',
    )
    const kinds: string[] = []
    registerSandboxes({ register: (kind) => kinds.push(kind) })
    expect(kinds).toEqual(['local', 'e2b'])
    let initialised = 0
    factory.register('own', () => ({ init: async () => void initialised++ }) as never)
    await factory.createAsync({ kind: 'own' })
    expect(initialised).toBe(1)
  })
})

describe.skipIf(noJail !== undefined)(`E2BSandbox (${noJail ?? 'as root'})`, () => {
  let setup: E2BSetup
  beforeAll(async () => {
    setup = await openE2BSetup()
  })
  afterAll(() => setup.close())

  it('made again from what was stored uses the same machine, and leaves it running', async () => {
    const first = setup.make()
    await first.exec('echo kept > note')
    const again = setup.make(undefined, stored(first))
    await expect(again.fs.read('note')).resolves.toBe('kept\n')
    expect(again.getSandboxId()).toBe(first.getSandboxId())
    await again.dispose()
    await expect(first.isRunning()).resolves.toBe(true)
    await first.setTimeout(60_000)
    await first.dispose()
    await expect(first.isRunning()).resolves.toBe(false)
  })

  it('killed right after a program has closed files in its workspace, loses none of them', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name })
    const written = 'for i in $(seq 200); do echo $i > f$i; done; head -c 3000000 /dev/zero > large'
    await expect(sandbox.exec(written)).resolves.toMatchObject({ code: 0 })
    // As a program that knows only E2B does it.
    await sandbox.getE2BInstance().kill()
    const sizes = new Map<string, number>()
    for await (const { name, size } of workspace.files.list('/')) sizes.set(name, size)
    expect(sizes.get('large')).toBe(3_000_000)
    expect(sizes.size).toBe(201)
  })

  it('E2BSandbox has no network if the options say so', async () => {
    const open = setup.make()
    const closed = setup.make(undefined, { allowInternetAccess: false })
    const reach = `exec 3<>/dev/tcp/${new URL(setup.serverInside).host.replace(':', '/')}`
    await expect(open.exec(reach)).resolves.toMatchObject({ code: 0 })
    await expect(closed.exec(reach)).resolves.toMatchObject({ code: 1 })
    await open.dispose()
    await closed.dispose()
  })

  it('E2BSandbox with a workspace: a new machine where the stored one is gone, with the same files', async () => {
    const workspace = await setup.makeWorkspace()
    const first = setup.make({ name: workspace.name })
    await first.exec('echo kept > note')
    const { attached } = stored(first)
    await first.dispose()
    const again = setup.make(
      { name: workspace.name },
      { sandboxId: 'i0gone', ...(attached && { attached }) },
    )
    await expect(again.exec('cat note')).resolves.toMatchObject({ stdout: 'kept\n' })
    await again.getE2BInstance().kill()
  })

  it('E2BSandbox with a workspace: what enters is a token for its directory alone, and it ends with the machine', async () => {
    const workspace = await setup.makeWorkspace()
    await workspace.files.write('/other/secret', 'hidden', { parents: true })
    const sandbox = setup.make(undefined, {
      template: setup.template,
      workspace: {
        name: workspace.name,
        path: '/repo/deep',
        server: setup.server.url,
        token: setup.server.apiKey,
      },
      serverInside: setup.serverInside,
    })
    await sandbox.exec('echo mine > file && sync .')
    const found = await searchMemory(sandbox)
    expect(found).not.toContain(setup.server.apiKey)
    const [token = ''] = /cairn_t1\.tok_[\w-]+(?:\.[\w-]+)+/.exec(found) ?? []
    const inside = new Cairn({ server: setup.server.url, apiKey: token }).workspace(workspace.name)
    await expect(inside.files.readText('/repo/deep/file')).resolves.toBe('mine\n')
    await expect(inside.files.readText('/other/secret')).rejects.toMatchObject({ errno: 'ENOENT' })
    await expect(inside.files.write('/other/mine', 'x')).rejects.toThrow()
    await expect(inside.tokens.issue('more', { ttlMs: 1000, allow: [] })).rejects.toThrow()
    await sandbox.dispose()
    await expect(inside.files.readText('/repo/deep/file')).rejects.toMatchObject({
      code: 'access_ended',
    })
  })

  it('E2BSandbox with a workspace: a later process renews the token that is there, and leaves it to the machine', async () => {
    const workspace = await setup.makeWorkspace()
    const first = setup.make({ name: workspace.name })
    await first.init()
    const name = `e2b-${first.getSandboxId()}`
    const before = await workspace.tokens.show(name)
    const again = setup.make({ name: workspace.name }, { ...pick(first), attached: true })
    await again.exec('echo later > file')
    const after = await workspace.tokens.show(name)
    expect(after.id).toBe(before.id)
    expect(Date.parse(after.expiresAt)).toBeGreaterThan(Date.parse(before.expiresAt))
    await again.dispose()
    await expect(first.exec('cat file')).resolves.toMatchObject({ stdout: 'later\n' })
    // Booted again and found by a process that knows no token: the next one goes in, beside the
    // spool of the first.
    await first.getE2BInstance().pause({ keepMemory: false })
    const last = setup.make({ name: workspace.name }, { ...pick(first), attached: true })
    await expect(last.exec('cat file')).resolves.toMatchObject({ stdout: 'later\n' })
    await last.dispose()
    await first.dispose({ drain: false })
    const states: string[] = []
    for await (const token of workspace.tokens.list())
      if (token.name === name) states.push(token.state)
    expect(states).toEqual(['revoked', 'revoked'])
  })

  it('E2BSandbox with a workspace: mounts it again in a machine that was booted anew, and hides its key', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name })
    await sandbox.exec('echo one > log && sync')
    const e2b = sandbox.getE2BInstance()
    const { stdout: seen } = await e2b.commands.run(
      'env; cat /proc/[0-9]*/environ | tr "\\0" "\\n"; true',
    )
    for (const secret of setup.secrets.slice(0, 2)) expect(seen).not.toContain(secret)
    await e2b.pause({ keepMemory: false })
    await e2b.connect()
    await expect(sandbox.exec('echo two >> log; cat log')).resolves.toMatchObject({
      stdout: 'one\ntwo\n',
    })
    await e2b.pause({ keepMemory: false })
    await e2b.connect()
    await sandbox.fs.write('by-file', 'in the workspace')
    await sandbox.dispose()
    await expect(workspace.files.readText('/by-file')).resolves.toBe('in the workspace')
    await expect(workspace.files.readText('/log')).resolves.toBe('one\ntwo\n')
  })
})
