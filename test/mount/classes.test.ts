import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { libc } from '../posix/libc.ts'
import { noMount, Site, type SiteMount } from './fixture.ts'

function xattrOf(path: string, name: string): string {
  const buffer = Buffer.alloc(64)
  const length = libc.lgetxattr(
    Buffer.from(`${path}\0`),
    Buffer.from(`${name}\0`),
    buffer,
    buffer.length,
  )
  return buffer.toString('utf8', 0, Number(length))
}

describe.skipIf(noMount)('a mount with a profile', () => {
  let site: Site
  let mount: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/', '--profile', 'portable', '--scratch', 'tmp')
  })
  afterAll(() => site.close())

  /** What the server has, by HTTP: that recalls nothing. */
  const atServer = async (path: string): Promise<string> => {
    const { code, stdout } = await site.tryCairn(['fs', 'cat', `:${path}`])
    return code === 0 ? stdout : 'missing'
  }
  /** Brings what is durable to the server: fsync waits for that, and for nothing else. */
  const sync = (file: string): Promise<string> => mount.sh(`echo 1 > ${file}; sync ${file}`)
  const localOps = async (): Promise<number> => (await mount.status()).onlyHere!.local.ops

  it('keeps changes below its local directories here until they are packed', async () => {
    await mount.sh(
      'mkdir -p repo/node_modules/a; echo code > repo/main; echo x > repo/node_modules/a/x',
    )
    await sync('repo/done')
    expect(await atServer('/repo/main')).toBe('code\n')
    expect(await atServer('/repo/node_modules/a/x')).toBe('missing')
    expect(await localOps()).toBeGreaterThan(0)
    await mount.drain()
    expect(await atServer('/repo/node_modules/a/x')).toBe('x\n')
    expect(await localOps()).toBe(0)
  })

  it('shows them to programs as one tree with the others', async () => {
    await mount.sh('mkdir repo/node_modules/b; echo y > repo/node_modules/b/y')
    expect(await mount.sh('ls repo/node_modules; cat repo/node_modules/b/y')).toBe('a\nb\ny\n')
    expect(await mount.sh('find repo -type f | sort')).toContain('repo/node_modules/b/y')
  })

  it('says in an attribute which class a file has', async () => {
    const classes = ['repo/main', 'repo/node_modules/b/y', 'repo/node_modules', 'repo'].map(
      (path) => xattrOf(mount.path(path), 'user.cairn.class'),
    )
    expect(classes).toEqual(['durable', 'local', 'local', 'durable'])
  })

  it('sends them before a rename to a durable path', async () => {
    await mount.sh('echo built > repo/node_modules/b/out; mv repo/node_modules/b/out repo/out')
    await sync('repo/done')
    expect(await atServer('/repo/out')).toBe('built\n')
    expect(await atServer('/repo/node_modules/b/y')).toBe('y\n')
  })

  it('removes and replaces local directories in order with what the server has', async () => {
    await mount.sh('rm -r repo/node_modules; mkdir repo/node_modules; echo 2 > repo/node_modules/z')
    expect(await mount.sh('ls repo/node_modules')).toBe('z\n')
    await mount.drain()
    expect(await atServer('/repo/node_modules/z')).toBe('2\n')
    expect(await atServer('/repo/node_modules/a/x')).toBe('missing')
  })

  it('never sends scratch directories, and drops them at unmount', async () => {
    await mount.sh('mkdir tmp; echo s > tmp/s')
    await mount.drain()
    expect(await atServer('/tmp/s')).toBe('missing')
    expect(await mount.sh('cat tmp/s')).toBe('s\n')
    await mount.unmount()
    await mount.again()
    expect(await mount.sh('ls tmp')).toBe('')
  })

  it('brings everything to the server when it is unmounted', async () => {
    await mount.sh('echo late > repo/node_modules/late')
    await mount.unmount()
    expect(await atServer('/repo/node_modules/late')).toBe('late\n')
    await mount.again()
    expect(readFileSync(mount.path('repo/node_modules/late'), 'utf8')).toBe('late\n')
  })

  it('keeps them here when it is unmounted with --no-auto-pack, for the next mount at its place', async () => {
    await mount.sh('echo 1 > repo/durable; echo kept > repo/node_modules/kept')
    const words = ['umount', '--no-auto-pack', '--json', mount.directory]
    const { stdout } = await site.cairn(words, mount.home)
    expect(JSON.parse(stdout)).toMatchObject({
      leftOperations: expect.any(Number) as number,
      next: expect.stringContaining('cairn mount') as string,
    })
    expect(await atServer('/repo/durable')).toBe('1\n')
    expect(await atServer('/repo/node_modules/kept')).toBe('missing')
    await mount.again()
    expect(await mount.sh('cat repo/node_modules/kept')).toBe('kept\n')
    await mount.drain()
    expect(await atServer('/repo/node_modules/kept')).toBe('kept\n')
    expect((await mount.status()).rescues).toEqual([])
  })

  it('loses nothing of them when its daemon is killed', async () => {
    await mount.sh('mkdir -p repo/dist; for i in $(seq 50); do echo $i > repo/dist/f$i; done')
    await sync('repo/done')
    expect(await atServer('/repo/dist/f50')).toBe('missing')
    process.kill(mount.processes().daemon, 'SIGKILL')
    expect(await mount.sh('cat repo/dist/f50; ls repo/dist | wc -l')).toBe('50\n50\n')
    await mount.drain()
    expect(await atServer('/repo/dist/f50')).toBe('50\n')
    expect((await mount.status()).rescues).toEqual([])
  })

  it('sends them when another mount looks', async () => {
    const other = await site.mount('/')
    writeFileSync(mount.path('repo/dist/new'), 'new')
    expect(readFileSync(other.path('repo/dist/new'), 'utf8')).toBe('new')
    await other.unmount()
  })

  it('a mount with a profile is packed under a name that shows all of it later', async () => {
    await mount.sh('echo packed > repo/dist/packed')
    const args = ['pack', '--mount', mount.directory, '--label', 'deps', '--json']
    const { stdout } = await site.cairn(args, mount.home)
    expect(JSON.parse(stdout)).toMatchObject({ label: 'deps' })
    await mount.sh('rm -r repo/dist')
    await mount.drain()
    expect(await atServer('/repo/dist/packed')).toBe('missing')
    const then = await site.cairn(['fs', 'cat', '--at', 'deps', ':/repo/dist/packed'])
    expect(then.stdout).toBe('packed\n')
    const unpack = ['unpack', '--pack', 'deps', '--remote-root', '/repo', '--profile', 'portable']
    const { stdout: first } = await site.cairn(unpack)
    expect(first).toContain('restored :/repo/dist\n')
    expect(first).toContain('kept :/repo/node_modules, which has content now\n')
    expect(await atServer('/repo/dist/packed')).toBe('packed\n')
    expect(await mount.sh('cat repo/dist/packed')).toBe('packed\n')
    expect((await site.cairn(unpack)).stdout).toContain('nothing to do')
  })

  it('imports a pack that drive9 made', async () => {
    const staged = mkdtempSync(join(tmpdir(), 'cairn-pack-'))
    try {
      mkdirSync(join(staged, 'entries/node_modules/left-pad'), { recursive: true })
      writeFileSync(join(staged, 'entries/node_modules/left-pad/index.js'), 'pad')
      const manifest = { format: 'drive9.pack.v1', version: 1, entries: [] }
      writeFileSync(join(staged, '.drive9-pack-manifest.json'), JSON.stringify(manifest))
      const archive = join(staged, 'pack.tar.gz')
      const members = ['.drive9-pack-manifest.json', 'entries']
      execFileSync('tar', ['-czf', archive, '-C', staged, ...members])
      await site.cairn(['unpack', archive, '--remote-root', '/other'])
      expect(await atServer('/other/node_modules/left-pad/index.js')).toBe('pad')
      writeFileSync(join(staged, 'x'), 'x')
      execFileSync('tar', ['-czf', archive, '-C', staged, 'x'])
      const { stderr } = await site.tryCairn(['unpack', archive, '--remote-root', '/other'])
      expect(stderr).toContain('it does not begin with the manifest of a pack')
    } finally {
      rmSync(staged, { recursive: true })
    }
  })
})

it('a profile that does not exist is refused with the command that lists them', async () => {
  const site = await Site.open()
  try {
    const { code, stderr } = await site.tryCairn(['mount', '--profile', 'portabel', ':/', './x'])
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('cairn profile ls') as string,
    })
  } finally {
    await site.close()
  }
})
