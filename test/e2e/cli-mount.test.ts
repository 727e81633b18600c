import type { ChildProcess } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { type Ran, useCairn } from './run-cairn.ts'
import { keyFile } from '@cairn/server/testing/key-file'

interface Listed {
  readonly mountPoint: string
  readonly isRunning: boolean
  readonly supervisor: { readonly pid: number }
  readonly daemon: { readonly pid: number }
}

describe.skipIf(noMount)('the mount as a user meets it', () => {
  const cairn = useCairn()
  let server: ChildProcess | undefined
  let url = ''

  const place = (...names: string[]): string => join(cairn.home(), ...names)
  const mounts = (): Promise<Listed[]> => cairn.json<Listed>('mount', 'ls')

  async function startServer(): Promise<void> {
    const listen = url === '' ? '127.0.0.1:0' : new URL(url).host
    server = cairn.start(['serve', '--data', place('data'), '--listen', listen, '--json'])
    const line = await new Promise<string>((resolve, reject) => {
      const lines = createInterface(server!.stdout!)
      lines.once('line', resolve)
      lines.once('close', () => reject(new Error('the server ended before it listened')))
    })
    url = (JSON.parse(line) as { url: string }).url
  }

  async function stopServer(): Promise<void> {
    const running = server
    server = undefined
    if (!running) return
    const ended = new Promise((resolve) => running.once('exit', resolve))
    running.kill('SIGKILL')
    await ended
  }

  /** A mount that knows its directory, and a server that is gone. */
  async function mountAndLose(path: string): Promise<void> {
    await cairn.text('mount', path, 'work')
    writeFileSync(place('work/before'), '')
    await cairn.text('mount', 'drain', 'work')
    await stopServer()
  }

  /** Kills the processes of the mount there; a program sees a dead mount. */
  async function killMount(): Promise<void> {
    const [mount] = await mounts()
    process.kill(mount!.supervisor.pid, 'SIGKILL')
    process.kill(mount!.daemon.pid, 'SIGKILL')
    await expect.poll(() => codeOf(mount!.mountPoint)).toBe('ENOTCONN')
  }

  beforeAll(async () => {
    await startServer()
    await cairn.text('ws', 'create', 'demo')
    await cairn.text('ctx', 'use', 'local', '--workspace', 'demo')
  })
  afterEach(async () => {
    for (const { mountPoint } of await mounts()) await cairn.run(['umount', '--force', mountPoint])
    if (!server) await startServer()
  })
  afterAll(stopServer)

  it('mount, status, ls, drain, umount: each says what it did', async () => {
    expect(await cairn.text('mount', ':/new/repo', 'made/work')).toBe(
      `mounted demo:/new/repo on ${place('made/work')}; end it with: cairn umount made/work\n`,
    )
    writeFileSync(join(place('made/work'), 'f'), 'x'.repeat(3000))
    expect(await cairn.text('mount', 'drain', 'made/work')).toBe('everything is at the server\n')
    const status = await cairn.text('mount', 'status', 'made/work')
    expect(status).toMatch(/^mount: +demo:\/new\/repo on /)
    expect(status).toMatch(/^not yet at the server: +nothing$/m)
    expect(status).toMatch(/^cache: .* of 4\.0G in /m)
    expect(status).toMatch(/\nhealthy: everything is at the server\n$/)
    const [json] = await cairn.json<Record<string, unknown>>('mount', 'status', 'made/work')
    expect(json).toMatchObject({
      mountPoint: place('made/work'),
      workspace: 'demo',
      branch: 'main',
      path: '/new/repo',
      server: url,
      readOnly: false,
      durability: 'auto',
      connected: true,
      healthy: true,
      pendingOps: 0,
      errors: [],
      rescues: [],
    })
    expect(json).not.toHaveProperty('key')
    expect(await cairn.text('mount', 'ls')).toMatch(/made\/work {2}demo:\/new\/repo {2}read-write/)
    expect(await cairn.text('umount', 'made/work')).toContain('everything is at the server')
    expect(await cairn.text('mount', 'ls')).toBe('')
    expect(await cairn.text('fs', 'stat', ':/new/repo/f')).toContain('3000')
  })

  it('what cannot be mounted is told with its reason, and leaves no trace', async () => {
    await cairn.text('fs', 'mkdir', ':/dir')
    await cairn.run(['fs', 'cp', '-', ':/dir/file'], { stdin: 'x' })
    writeFileSync(place('local-file'), '')
    const at = ['--server', url, '--workspace', 'demo']
    const cases: [code: string, exit: number, message: string, ...args: string[]][] = [
      ['mount_failed', 1, 'it is a file', ':/dir/file', 'no/where'],
      ['mount_failed', 1, 'it does not exist', '--read-only', ':/none', 'no/where'],
      ['workspace_missing', 4, 'mount nope:/', '-w', 'nope', ':/', 'no/where'],
      [
        'unauthenticated',
        3,
        'does not take the key',
        ...at,
        '--api-key-file',
        keyFile('x'),
        ':/',
        'no/where',
      ],
      ['branch_missing', 4, 'nope', '--layer', 'nope', ':/dir', 'no/where'],
      ['mount_failed', 1, 'it is not a directory', ':/dir', 'local-file'],
      ['mount_failed', 1, 'not a directory', ':/dir', 'local-file/below'],
      ['mount_failed', 1, 'takes no new directories', ':/dir', '/proc/none/below'],
      ['branch_missing', 4, 'mount demo:/dir at never', '--at', 'never', ':/dir', 'no/where'],
      ['usage', 2, '--checkpoint and --at', '--at', 'a', '--checkpoint', 'b', ':/', 'no/where'],
      ['usage', 2, 'only one that writes', '--at', 'a', '--shared-locks', ':/', 'no/where'],
      ['usage', 2, 'fuse, auto', '--mode', 'nfs', ':/', 'no/where'],
    ]
    for (const [code, exit, message, ...args] of cases) {
      const error = await cairn.error('mount', ...args)
      expect(error).toMatchObject({
        code,
        exit,
        message: expect.stringContaining(message) as string,
      })
    }
    expect(existsSync(place('no'))).toBe(false)
    expect(await mounts()).toEqual([])
  })

  it('over what its own processes need: refused before anything is mounted', async () => {
    mkdirSync(place('.cache'), { recursive: true })
    symlinkSync('.', place('same'))
    mkdirSync(place('hidden/cache'), { recursive: true })
    symlinkSync('hidden/cache', place('cache'))
    const cases: [message: string, ...args: string[]][] = [
      ['export XDG_CACHE_HOME=', 'mount', ':/', '.'],
      ['export XDG_CACHE_HOME=', 'mount', ':/', 'same'],
      ['export XDG_CACHE_HOME=', 'mount', ':/', '.cache'],
      ['export XDG_CACHE_HOME=', 'mount', 'vault', '.'],
      ['export XDG_CACHE_HOME=', 'init', '--workspace', 'demo', '--path', place()],
      ['another directory as --cache-dir', 'mount', '--cache-dir', 'hidden/c', ':/', 'hidden'],
      ['another directory as --cache-dir', 'mount', '--cache-dir', 'cache', ':/', 'hidden'],
      ['install cairn elsewhere', 'mount', ':/', dirname(process.execPath)],
    ]
    for (const [message, ...args] of cases)
      expect(await cairn.error(...args)).toMatchObject({
        code: 'mount_failed',
        message: expect.stringContaining(message) as string,
      })
    expect(await mounts()).toEqual([])
  })

  it.each(['fuse', 'auto'])('--mode %s mounts by FUSE', async (mode) => {
    await cairn.text('mount', '--mode', mode, ':/', 'work')
    expect(readFileSync('/proc/mounts', 'utf8')).toContain(`${place('work')} fuse.cairn`)
  })

  it('a server that is away: told after a few tries, and no directory is made', async () => {
    await stopServer()
    const error = await cairn.error('mount', ':/', 'no/where')
    expect(error).toMatchObject({ code: 'unreachable', exit: 12 })
    expect(existsSync(place('no'))).toBe(false)
  })

  it('where nothing is mounted: not_mounted, with the command that mounts', async () => {
    for (const command of [['mount', 'status'], ['mount', 'drain'], ['umount']]) {
      const error = await cairn.error(...command, 'nothing/here')
      expect(error).toMatchObject({
        code: 'not_mounted',
        exit: 4,
        message: expect.stringContaining('cairn mount :/ nothing/here') as string,
      })
    }
  })

  it('a place that is taken, also by a mount of another home, is refused', async () => {
    await cairn.text('mount', ':/', 'work')
    expect(await cairn.error('mount', ':/', 'work')).toMatchObject({
      code: 'mount_failed',
      exit: 1,
    })
    mkdirSync(place('other'))
    const env = {
      HOME: place('other'),
      CAIRN_SERVER: url,
      CAIRN_API_KEY: readFileSync(place('data/owner-key'), 'utf8').trim(),
      CAIRN_WORKSPACE: 'demo',
    }
    const mounted = await cairn.run(['mount', ':/', place('work')], { env })
    expect([mounted.code, mounted.stderr]).toEqual([1, expect.stringContaining('another user')])
    const ended = await cairn.run(['umount', place('work')], { env })
    expect([ended.code, ended.stderr]).toEqual([4, expect.stringContaining('another HOME')])
  })

  it('a mount that was killed: status says so, umount takes it away', async () => {
    await cairn.text('mount', ':/dead', 'work')
    await killMount()
    const error = await cairn.error('mount', 'status', 'work')
    expect(error).toMatchObject({ code: 'mount_unhealthy', exit: 1 })
    expect(await cairn.text('mount', 'ls')).toMatch(/ {2}killed\n$/)
    expect(await cairn.text('umount', 'work')).toContain('took away the dead mount')
    expect(codeOf(place('work'))).toBe('EISDIR')
    expect(await mounts()).toEqual([])
  })

  it('a mount that was killed with work not handed in: the next one there brings it to the server', async () => {
    await mountAndLose(':/left')
    writeFileSync(place('work/late'), 'not lost')
    await killMount()
    await startServer()
    const { code, stderr } = await cairn.run(['mount', ':/left', 'work'])
    expect([code, stderr]).toEqual([0, expect.stringMatching(/was killed; \d+ operations/)])
    expect(await cairn.text('fs', 'cat', ':/left/late')).toBe('not lost')
    expect(readFileSync(place('work/late'), 'utf8')).toBe('not lost')
  })

  it('what was left behind never goes to another workspace that is mounted there', async () => {
    await cairn.text('ws', 'create', 'second')
    await cairn.text('ctx', 'use', 'local', '--workspace', 'demo')
    await mountAndLose(':/mixed')
    writeFileSync(place('work/mine'), 'of demo')
    await killMount()
    await startServer()
    await cairn.text('mount', '-w', 'second', ':/mixed', 'work')
    expect(existsSync(place('work/mine'))).toBe(false)
    await cairn.text('umount', 'work')
    await cairn.text('mount', ':/mixed', 'work')
    expect(await cairn.text('fs', 'cat', ':/mixed/mine')).toBe('of demo')
  })

  it('a dead mount without a record is mounted over', async () => {
    await cairn.text('mount', ':/dead', 'work')
    const [{ supervisor, daemon }] = (await mounts()) as [Listed]
    const env = { XDG_CACHE_HOME: place('empty-cache') }
    process.kill(supervisor.pid, 'SIGKILL')
    process.kill(daemon.pid, 'SIGKILL')
    await expect.poll(() => codeOf(place('work'))).toBe('ENOTCONN')
    expect((await cairn.run(['mount', ':/dead', 'work'], { env })).stderr).toBe('')
    writeFileSync(place('work/f'), '')
    expect((await cairn.run(['umount', 'work'], { env })).code).toBe(0)
  })

  describe('the server is away', () => {
    const begin = async (): Promise<void> => {
      await mountAndLose(':/away')
      writeFileSync(place('work/f'), 'waits')
    }

    it('status is unhealthy and still shows everything', async () => {
      await begin()
      await expect.poll(() => cairn.run(['mount', 'status', 'work'])).toMatchObject({ code: 1 })
      const { stdout, stderr } = await cairn.run(['mount', 'status', 'work'])
      expect(stdout.toString()).toMatch(/not yet at the server: +\d+ operations/)
      expect(stderr).toContain('the server is away')
    })

    it('drain and umount give up in time, and the mount is as it was', async () => {
      await begin()
      for (const command of [['mount', 'drain'], ['umount']]) {
        const error = await cairn.error(...command, '--timeout', '700ms', 'work')
        expect(error).toMatchObject({ code: 'not_drained', exit: 1 })
      }
      expect(readFileSync(place('work/f'), 'utf8')).toBe('waits')
      await startServer()
      await cairn.text('mount', 'drain', 'work')
      expect(await cairn.text('fs', 'cat', ':/away/f')).toBe('waits')
      expect((await mounts())[0]).toMatchObject({ isRunning: true })
    })

    it('Ctrl-C at umount: it stays mounted, also when the server comes back', async () => {
      await begin()
      const child = cairn.start(['umount', 'work'])
      const said = new Promise<string>((resolve) =>
        child.stderr!.once('data', (data: Buffer) => resolve(data.toString())),
      )
      expect(await said).toMatch(/^waiting for \d+ operations? \(/)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      expect(await ended).toBe(130)
      await startServer()
      await cairn.text('mount', 'drain', 'work')
      expect((await mounts())[0]).toMatchObject({ isRunning: true })
      expect(readFileSync(place('work/f'), 'utf8')).toBe('waits')
    })

    it('umount --force: gone at once, what is left is named and goes on with the next mount', async () => {
      await begin()
      const said = await cairn.text('umount', '--force', 'work')
      expect(said).toMatch(/\d+ operations may not be at the server and are kept in .*\/spool-/)
      expect(said).toContain(`next: cairn mount -w demo :/away ${place('work')}`)
      expect(existsSync(place('work/f'))).toBe(false)
      await startServer()
      await cairn.text('mount', ':/away', 'work')
      expect(await cairn.text('fs', 'cat', ':/away/f')).toBe('waits')
    })
  })

  it('umount of a mount in use names the program; --force unmounts it', async () => {
    await cairn.text('mount', ':/busy', 'work')
    const reader = await open(place('work/f'), 'w')
    try {
      const error = await cairn.error('umount', 'work')
      expect(error).toMatchObject({
        code: 'umount_failed',
        message: expect.stringMatching(new RegExp(`used by .*\\(pid ${process.pid}\\)`)) as string,
      })
      expect((await mounts())[0]).toMatchObject({ isRunning: true })
      expect(await cairn.text('umount', '--force', 'work')).toContain('unmounted')
    } finally {
      await reader.close().catch(() => undefined)
    }
  })

  it('a layer is mounted by its name, and main does not see what is done there', async () => {
    await cairn.text('fs', 'mkdir', ':/repo')
    await cairn.text('fs', 'layer', 'create', ':/repo', '--name', 'fix-a')
    await cairn.text('mount', '--layer', 'fix-a', ':/repo', 'attempt')
    writeFileSync(place('attempt/tried'), 'x')
    await cairn.text('umount', 'attempt')
    expect(await cairn.error('fs', 'cat', ':/repo/tried')).toMatchObject({ errno: 'ENOENT' })
    expect(await cairn.text('fs', 'cat', '--layer', 'fix-a', ':/repo/tried')).toBe('x')
  })

  it('a checkpoint is mounted as it was, and can be found by its label alone', async () => {
    await cairn.text('fs', 'mkdir', ':/past')
    await cairn.run(['fs', 'cp', '-', ':/past/f'], { stdin: 'then' })
    await cairn.text('fs', 'layer', 'create', ':/past', '--name', 'fix-b')
    await cairn.text('fs', 'layer', 'checkpoint', 'fix-b', '--label', 'tests-pass')
    await cairn.run(['fs', 'cp', '-', ':/past/f', '--layer', 'fix-b'], { stdin: 'now' })
    const said = await cairn.text('mount', '--checkpoint', 'tests-pass', ':/past', 'then')
    expect(said).toContain('demo:/past (at tests-pass)')
    expect(readFileSync(place('then/f'), 'utf8')).toBe('then')
    expect(() => writeFileSync(place('then/f'), 'x')).toThrow('EROFS')
    expect(readFileSync(place('then/.cairn/status'), 'utf8')).toContain('checkpoint: tests-pass')
    expect(await cairn.text('mount', 'status', 'then')).toMatch(/checkpoint: +tests-pass/)
    const [json] = await cairn.json('mount', 'status', 'then')
    expect(json).toMatchObject({ at: 'tests-pass', readOnly: true, healthy: true })
    await cairn.text('umount', 'then')
    const of = ['--layer', 'fix-b', '--at', 'tests-pass']
    expect(await cairn.error('mount', ...of, ':/none', 'no/where')).toMatchObject({
      code: 'mount_failed',
      message: expect.stringContaining('cairn fs ls --layer fix-b --at tests-pass :/') as string,
    })
    await cairn.text('fs', 'layer', 'checkpoint', 'fix-b', '--label', 'tests-pass')
    expect(await cairn.error('mount', ...of, ':/past', 'no/where')).toMatchObject({
      code: 'reference_ambiguous',
      message: expect.stringMatching(/cp_.*cp_/) as string,
    })
  })

  it('Ctrl-C while the server opens no session: nothing is mounted, and nothing was made', async () => {
    // Answers about files, and leaves clients that want a session waiting, as a proxy may.
    const proxy = createServer((_, response) => response.end('{"kind":"directory"}'))
    proxy.on('upgrade', (_, socket) => void socket.on('error', () => undefined))
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const { port } = proxy.address() as AddressInfo
    const at = [
      '--server',
      `http://127.0.0.1:${port}`,
      '--api-key-file',
      keyFile('x'),
      '-w',
      'demo',
    ]
    const child = cairn.start(['mount', ...at, ':/', 'made/for/it'])
    try {
      const said = new Promise((resolve) => child.stderr!.once('data', resolve))
      expect(String(await said)).toMatch(/still waiting for (a session with|the server) http/)
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGINT')
      expect(await ended).toBe(130)
      expect(await mounts()).toEqual([])
      expect(existsSync(place('made/for'))).toBe(false)
    } finally {
      child.kill('SIGKILL')
      proxy.closeAllConnections()
      proxy.close()
    }
  })

  it('a home whose path is too long for the address of a socket works', async () => {
    const XDG_CACHE_HOME = place('a-long-name-for-a-directory-of-caches'.repeat(3))
    const run = (...args: string[]): Promise<Ran> => cairn.run(args, { env: { XDG_CACHE_HOME } })
    expect((await run('mount', ':/deep', 'work')).code).toBe(0)
    expect((await run('mount', 'status', 'work')).code).toBe(0)
    expect((await run('umount', 'work')).code).toBe(0)
  })

  it('a place whose name holds what some take for the end of a line', async () => {
    const name = 'work\u2028there'
    await cairn.text('mount', ':/lines', name)
    const [status] = await cairn.json<{ mountPoint: string }>('mount', 'status', name)
    expect(status!.mountPoint).toBe(place(name))
    await cairn.text('umount', name)
  })

  it('doctor: a line a check, and 1 when one fails', async () => {
    const checks = await cairn.json<{ name: string; state: string }>('doctor')
    expect(checks.filter(({ state }) => state === 'fail')).toEqual([])
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['node', 'transport', 'device', 'kernel', 'cache', 'server', 'key']),
    )
    const bad = await cairn.run(['doctor', '--server', url, '--api-key-file', keyFile('wrong')])
    expect(bad.code).toBe(1)
    expect(bad.stdout.toString()).toMatch(/^fail +key .*Fix: cairn ctx add/m)
    await stopServer()
    const away = await cairn.run(['doctor'])
    expect(away.code).toBe(1)
    expect(away.stdout.toString()).toMatch(/^fail +server .*cannot be reached/m)
  })
})

/** What opening it as a file gives; EISDIR for a directory that is well. */
function codeOf(path: string): string | undefined {
  try {
    readFileSync(path)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
  return undefined
}
