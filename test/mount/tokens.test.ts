import { execFileSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { Cairn } from '@cairn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { keyFile } from '@cairn/server/testing/key-file'

describe.skipIf(noMount)('a mount under a token', { timeout: 60_000 }, () => {
  let site: Site
  let owner: SiteMount
  let agent: SiteMount
  const src = 'read,list,search,write,delete'
  const issue = async (name: string, ...options: string[]): Promise<string> => {
    const args = ['token', 'issue', name, '--token-only', ...options]
    return (await site.cairn(args)).stdout.trim()
  }
  const mountWith = (token: string, path = '/', ...options: string[]): Promise<SiteMount> =>
    site.mount(path, '--server', site.url, '--api-key-file', keyFile(token), ...options)

  beforeAll(async () => {
    site = await Site.open()
    owner = await site.mount('/')
    for (const directory of ['repo/src', 'repo/tests', 'repo/.secret', 'other'])
      mkdirSync(owner.path(directory), { recursive: true })
    writeFileSync(owner.path('repo/src/a.ts'), 'a')
    writeFileSync(owner.path('repo/src/keys'), 'k')
    writeFileSync(owner.path('repo/tests/t.ts'), 't')
    writeFileSync(owner.path('repo/.secret/key'), 's')
    await owner.drain()
    const allow = ['--allow', `/repo/src:${src}`, '--allow', '/repo/tests:read,list,search']
    const token = await issue('agent-17', '--ttl', '1h', ...allow, '--deny', '/repo/src/keys')
    agent = await mountWith(token)
  }, 60_000)
  afterAll(() => site.close(), 120_000)

  it('shows what is allowed and the way to it, and nothing else', () => {
    const names = (path: string): string[] =>
      readdirSync(agent.path(path))
        .filter((name) => name !== '.cairn')
        .sort()
    expect(names('.')).toEqual(['repo'])
    expect(names('repo')).toEqual(['src', 'tests'])
    expect(names('repo/src')).toEqual(['a.ts'])
    expect(readFileSync(agent.path('repo/tests/t.ts'), 'utf8')).toBe('t')
    for (const hidden of ['other', 'repo/.secret/key', 'repo/src/keys'])
      expect(() => statSync(agent.path(hidden))).toThrow(/ENOENT/)
    expect(statSync(agent.path('repo')).nlink).toBe(4)
  })

  it('writes where it may; elsewhere EACCES, also both ends of a rename', () => {
    writeFileSync(agent.path('repo/src/b.ts'), 'b')
    renameSync(agent.path('repo/src/b.ts'), agent.path('repo/src/c.ts'))
    expect(readFileSync(agent.path('repo/src/c.ts'), 'utf8')).toBe('b')
    expect(() => writeFileSync(agent.path('repo/tests/t.ts'), 'x')).toThrow(/EACCES/)
    expect(() => writeFileSync(agent.path('repo/tests/new'), 'x')).toThrow(/EACCES/)
    expect(() => mkdirSync(agent.path('new'))).toThrow(/EACCES/)
    expect(() => mkdirSync(agent.path('other'))).toThrow(/EACCES/)
    const [from, to] = [agent.path('repo/src/c.ts'), agent.path('repo/tests/c.ts')]
    expect(() => renameSync(from, to)).toThrow(/EACCES/)
    expect(() => renameSync(agent.path('repo/tests/t.ts'), from)).toThrow(/EACCES/)
    expect(() => writeFileSync(agent.path('repo/src/keys'), 'x')).toThrow(/EACCES/)
  })

  it('follows others: what comes into scope appears, what leaves it goes', async () => {
    await agent.drain()
    writeFileSync(owner.path('other/new.ts'), 'from elsewhere')
    renameSync(owner.path('other/new.ts'), owner.path('repo/src/new.ts'))
    renameSync(owner.path('repo/src/a.ts'), owner.path('other/a.ts'))
    writeFileSync(owner.path('repo/tests/t.ts'), 'changed')
    await owner.drain()
    await expect.poll(() => readdirSync(agent.path('repo/src')).sort()).toEqual(['c.ts', 'new.ts'])
    expect(readFileSync(agent.path('repo/src/new.ts'), 'utf8')).toBe('from elsewhere')
    await expect.poll(() => readFileSync(agent.path('repo/tests/t.ts'), 'utf8')).toBe('changed')
    expect(existsSync(agent.path('repo/src/a.ts'))).toBe(false)
    expect(await agent.status()).toMatchObject({ errors: [] })
  })

  it('a tool that works inside works: git, tar, rm -r', () => {
    const run = (command: string): string =>
      execFileSync('sh', ['-ec', command], { cwd: agent.path('repo/src'), encoding: 'utf8' })
    run('git init -q . && git add c.ts && git -c user.name=a -c user.email=a@b commit -qm one')
    expect(run('git log --format=%s').trim()).toBe('one')
    run('mkdir d && echo 1 > d/f && tar cf d.tar d && rm -r d && tar xf d.tar && cat d/f')
    run('rm -rf .git d d.tar')
  })

  it('a budget is felt before it is acknowledged, and is never given back', async () => {
    const allow = ['--ttl', '1h', '--allow', `/other:${src}`]
    const mount = await mountWith(await issue('small', ...allow, '--max-bytes', '64KiB'), '/other')
    writeFileSync(mount.path('fits'), Buffer.alloc(40_000, 1))
    await mount.drain()
    const more = (): void => writeFileSync(mount.path('more'), Buffer.alloc(40_000, 2))
    expect(attempt(more)).toBe(edquot)
    execFileSync('rm', [mount.path('fits')])
    await mount.drain()
    expect(attempt(more)).toBe(edquot)
  })

  it('a revoked one is refused within a second, and says so', async () => {
    const token = await issue('gone', '--ttl', '1h', '--allow', `/other:${src}`)
    const mount = await mountWith(token, '/other')
    writeFileSync(mount.path('before'), 'x')
    await mount.drain()
    await new Cairn({ server: site.url, apiKey: site.key }).workspace('demo').tokens.revoke('gone')
    const began = performance.now()
    await expect
      .poll(() => attempt(() => writeFileSync(mount.path('after'), 'x')), { interval: 20 })
      .toBe('EACCES')
    expect(performance.now() - began).toBeLessThan(1000)
    expect(readFileSync(mount.path('.cairn/status'), 'utf8')).toMatch(/refused: .*revoked/)
    expect(await mount.status()).toMatchObject({ connected: false, pendingOps: 0 })
  })

  it('files that were read before a revocation cannot be read after it, also through open files', async () => {
    const token = await issue('reader', '--ttl', '1h', '--allow', `/other:${src}`)
    const mount = await mountWith(token, '/other')
    writeFileSync(mount.path('known'), 'secret')
    await mount.drain()
    expect(readFileSync(mount.path('known'), 'utf8')).toBe('secret')
    const fd = openSync(mount.path('known'), 'r')
    await new Cairn({ server: site.url, apiKey: site.key })
      .workspace('demo')
      .tokens.revoke('reader')
    try {
      for (const look of [
        () => readFileSync(mount.path('known')),
        () => readSync(fd, Buffer.alloc(6), 0, 6, 0),
        () => statSync(mount.path('known')),
        () => readdirSync(mount.path('.')),
      ])
        await expect.poll(() => attempt(look), { interval: 20 }).toBe('EACCES')
    } finally {
      closeSync(fd)
    }
    expect(readFileSync(mount.path('.cairn/status'), 'utf8')).toMatch(/refused: .*revoked/)
  })

  it('what one had not sent when its time was over is kept, and sent once it is refreshed', async () => {
    await site.cairn(['fs', 'layer', 'create', ':/other', '--name', 'alone'])
    const allow = ['--ttl', '1h', '--allow', `/other:${src}`, '--layer', 'alone']
    // Bound to it, it means that layer without being told.
    const mount = await mountWith(await issue('short', ...allow), '/other')
    writeFileSync(mount.path('short'), 'before')
    await mount.drain()
    await expect.poll(async () => (await mount.status()).standing).toBe('lease')
    await site.cairn(['token', 'refresh', 'short', '--ttl', '1s'])
    const overMs = Date.now() + 1000
    await site.stopServer('SIGKILL')
    writeFileSync(mount.path('short'), 'kept')
    await expect.poll(() => Date.now()).toBeGreaterThan(overMs)
    await site.startServer()
    await expect
      .poll(() => attempt(() => writeFileSync(mount.path('no'), '')), { timeout: 10_000 })
      .toBe('EACCES')
    const status = await mount.status()
    expect(status.pendingOps).toBeGreaterThan(0)
    await site.cairn(['token', 'refresh', 'short', '--ttl', '1h'])
    await expect.poll(async () => (await mount.status()).pendingOps, { timeout: 20_000 }).toBe(0)
    expect((await site.cairn(['fs', 'cat', ':/other/short', '--layer', 'alone'])).stdout).toBe(
      'kept',
    )
  })
})

/** As libuv spells it, which does not know the name. */
const edquot = -122

function attempt(work: () => unknown): string | number | undefined {
  try {
    work()
    return 'done'
  } catch (error) {
    const { code, errno } = error as NodeJS.ErrnoException
    return code === 'UNKNOWN' ? errno : code
  }
}
