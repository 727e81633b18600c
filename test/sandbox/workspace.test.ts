import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { LocalSandbox } from '@cairn/sandbox'
import { findTraces, useJails } from './jail-fixture.ts'
import { startPausingProxy } from './pausing-proxy.ts'
import { type LocalSetup, noJail, openLocalSetup } from './local-setup.ts'

const isLong = Number(process.env['CAIRN_RUNS'] ?? 1) > 1
const inSequence = isLong ? 50 : 3
const atOnce = isLong ? 10 : 4
const fixtureFiles = 400

describe.skipIf(noJail !== undefined)(`workspaces in jails (${noJail ?? 'as root'})`, () => {
  let setup: LocalSetup
  beforeAll(async () => {
    setup = await openLocalSetup()
  })
  afterAll(() => setup.close())

  it('need no key inside', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name })
    try {
      await sandbox.exec('echo hello > file')
      const [key] = setup.secrets
      const search = `sudo grep -aslF '${key!.slice(0, 16)}' /proc/[0-9]*/environ /proc/[0-9]*/cmdline; sudo grep -rslF '${key!.slice(0, 16)}' /etc /home /root /run /tmp /var`
      const { stdout } = await sandbox.exec(search)
      // The one that searches has it in its own words.
      expect(stdout.replaceAll(/\/proc\/\d+\/cmdline\n/g, '')).toBe('')
      expect((await sandbox.exec('env')).stdout).not.toContain(key)
    } finally {
      await sandbox.dispose()
    }
  })

  it('show the server a token of their own, which ends with them', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name })
    await sandbox.exec('echo hello > file')
    const name = `local-${sandbox.getSandboxId()}`
    const { id, state, allow } = await workspace.tokens.show(name)
    expect({ state, allow }).toEqual({
      state: 'live',
      allow: [{ path: '/', operations: ['read', 'list', 'search', 'write', 'delete'] }],
    })
    await sandbox.dispose()
    await expect(workspace.tokens.show(name)).resolves.toMatchObject({ state: 'revoked' })
    const actors = new Set<string>()
    for await (const { actor } of workspace.log({ path: '/file' })) actors.add(actor)
    expect([...actors]).toEqual([id])
  })

  it('sandboxes that get a narrowed token can only use their directory', async () => {
    const workspace = await setup.makeWorkspace()
    for (const path of ['/in/file', '/out/file'])
      await workspace.files.write(path, 'text', { parents: true })
    const { secret: token } = await workspace.tokens.issue('maker', {
      ttlMs: 600_000,
      allow: [{ path: '/', operations: ['read', 'list', 'search', 'write', 'delete'] }],
    })
    const given = { name: workspace.name, server: setup.server, token }
    const sandbox = setup.make(undefined, { workspace: { ...given, path: '/in', readOnly: true } })
    try {
      await expect(sandbox.exec('cat file')).resolves.toMatchObject({ stdout: 'text' })
      expect((await sandbox.exec('echo more > file')).code).not.toBe(0)
    } finally {
      await sandbox.dispose()
    }
    await expect(workspace.tokens.show('maker')).resolves.toMatchObject({ state: 'live' })
  })

  it('take a step at a time: a layer that does not exist is an error that names it', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name, layer: 'no-such-layer' })
    await expect(sandbox.init()).rejects.toThrow(/no-such-layer/)
    expect(readdirSync(setup.directory).filter((name) => /^[0-9a-f]{20}$/.test(name))).toEqual([])
  })

  it('workspaces in jails are whole in the next sandbox when one is killed in the middle of a clone', async () => {
    const bundle = makeBundle(setup.directory)
    const workspace = await setup.makeWorkspace()
    const binds = [{ source: bundle, target: '/srv/many.bundle' }]
    const first = setup.make({ name: workspace.name }, { binds })
    const cloning = first.exec('git clone -q /srv/many.bundle clone')
    await expect.poll(() => countFiles(first), { interval: 20 }).toBeGreaterThan(20)
    await first.dispose({ drain: false })
    await cloning.catch(() => undefined)

    const second = setup.make({ name: workspace.name }, { binds })
    try {
      const read = await second.exec('find clone -type f -print0 | xargs -0 cat > /dev/null')
      expect(read).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(await second.exec('git -C clone fsck --full --no-dangling')).toMatchObject({ code: 0 })
      const repair =
        'cd clone && rm -f .git/index.lock && git reset -q --hard && git status --porcelain'
      expect(await second.exec(repair)).toEqual({ code: 0, stdout: '', stderr: '' })
      expect(await countFiles(second)).toBe(fixtureFiles)
    } finally {
      await second.dispose()
    }
  })

  it('lose nothing that programs were told is written when maker, mount and jail are killed', async () => {
    const workspace = await setup.makeWorkspace()
    const { name } = workspace
    const proxy = await startPausingProxy(setup.server)
    onTestFinished(proxy.close)
    const token = setup.secrets[0]!
    const program = fileURLToPath(new URL('sandbox-maker.ts', import.meta.url))
    const args = ['--conditions=source', program, setup.directory, name]
    const env = { ...process.env, CAIRN_SERVER: proxy.url, CAIRN_API_KEY: token }
    const maker = spawn(process.execPath, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface(maker.stdout)[Symbol.asyncIterator]()
    expect((await lines.next()).value).toBe('ready')
    proxy.pause()
    maker.stdin.write('write\n')
    expect((await lines.next()).value).toBe('written')
    maker.kill('SIGKILL')
    await expect(workspace.files.read('/file-1')).rejects.toMatchObject({ errno: 'ENOENT' })

    const next = setup.make(undefined, { workspace: { name, server: proxy.url, token } })
    try {
      expect(await next.exec('ls | wc -l; cat file-300')).toMatchObject({
        stdout: '300\nnumber 300\n',
      })
    } finally {
      await next.dispose()
    }
  })

  it(`work in ${inSequence} sandboxes, one after the other`, async () => {
    const workspace = await setup.makeWorkspace()
    for (let turn = 1; turn <= inSequence; turn++) {
      const sandbox = setup.make({ name: workspace.name })
      const { stdout } = await sandbox.exec(`echo ${turn} >> turns; tail -1 turns; wc -l < turns`)
      expect(stdout).toBe(`${turn}\n${turn}\n`)
      await sandbox.dispose({ drain: turn % 2 === 0 })
    }
  })

  it(`work in ${atOnce} sandboxes at once`, async () => {
    const sandboxes = await Promise.all(
      Array.from({ length: atOnce }, async () => {
        const { name } = await setup.makeWorkspace()
        return { name, sandbox: setup.make({ name }) }
      }),
    )
    try {
      const answers = await Promise.all(
        sandboxes.map(({ name, sandbox }) =>
          sandbox.exec(`echo ${name} > me; cat me; ls | wc -l; grep ^workspace .cairn/status`),
        ),
      )
      expect(answers.map(({ stdout }) => stdout)).toEqual(
        sandboxes.map(({ name }) => `${name}\n1\nworkspace: ${name}\n`),
      )
    } finally {
      await Promise.all(sandboxes.map(({ sandbox }) => sandbox.dispose()))
    }
  })
})

describe.skipIf(noJail !== undefined)(
  `a jail whose maker is killed (${noJail ?? 'as root'})`,
  () => {
    const jails = useJails()

    it('ends with it, and the next one takes away what is left', async () => {
      const program = fileURLToPath(new URL('jail-maker.ts', import.meta.url))
      const args = ['--conditions=source', program, jails.directory]
      const maker = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
      const [line] = (await once(createInterface(maker.stdout), 'line')) as [string]
      const { id } = JSON.parse(line) as { id: string }
      expect(findTraces(id).filter((trace) => /^\d+$/.test(trace))).not.toEqual([])
      maker.kill('SIGKILL')
      await expect.poll(() => findTraces(id).filter((trace) => /^\d+$/.test(trace))).toEqual([])
      await jails.make()
      expect(findTraces(id)).toEqual([])
      expect(readdirSync(jails.directory)).not.toContain(id)
    })
  },
)

async function countFiles(sandbox: LocalSandbox): Promise<number> {
  const { stdout } = await sandbox.exec('find clone -name "file-*" -type f 2>/dev/null | wc -l')
  return Number(stdout)
}

/** A repository in one file: git does not check its owner. */
function makeBundle(directory: string): string {
  const repository = join(directory, 'repository')
  mkdirSync(repository)
  const git = (...args: readonly string[]): void => {
    const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org']
    execFileSync('git', ['-C', repository, ...who, ...args])
  }
  git('init', '-q')
  for (let number = 0; number < fixtureFiles; number++)
    writeFileSync(join(repository, `file-${number}`), `${number}\n`.repeat(2000))
  git('add', '.')
  git('commit', '-q', '-m', 'many files')
  const bundle = join(directory, 'many.bundle')
  git('bundle', 'create', '-q', bundle, 'HEAD')
  return bundle
}
