import { spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { connectE2B } from '@cairn/sandbox'
import { noJail } from './local-setup.ts'

const program = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))

describe.skipIf(noJail !== undefined)(`cairn sandbox (${noJail ?? 'as root'})`, () => {
  let home: string
  let env: NodeJS.ProcessEnv
  const start = (...args: string[]): ReturnType<typeof spawn> =>
    spawn(process.execPath, ['--conditions=source', program, 'sandbox', ...args], { env })
  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    const child = start(...args)
    const ended = new Promise<number>((resolve) => child.once('close', resolve))
    const [out, err, code] = await Promise.all([text(child.stdout!), text(child.stderr!), ended])
    return { code, out, err }
  }
  /** With the SDK told what it printed. */
  async function serve(): Promise<{
    child: ReturnType<typeof spawn>
    ended: Promise<unknown>
    e2b: Awaited<ReturnType<typeof connectE2B>>
  }> {
    const child = start('serve', '--host-system', '--listen', '127.0.0.1:0')
    const ended = new Promise((resolve) => child.once('close', resolve))
    const exported: Record<string, string> = {}
    for await (const line of createInterface({ input: child.stdout! })) {
      const [, name = '', value = ''] = /^export (\w+)=(\S+)$/.exec(line) ?? []
      exported[name] = value
      if (name === 'E2B_API_KEY') break
    }
    const { E2B_API_URL: url = '', E2B_API_KEY: apiKey = '' } = exported
    expect([exported['E2B_SANDBOX_URL'], exported['E2B_VOLUME_API_URL']]).toEqual([url, url])
    return { child, ended, e2b: await connectE2B({ apiKey, url }) }
  }

  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'cairn-sandbox-cli-'))
    env = { PATH: process.env['PATH'], HOME: home }
  })
  afterAll(() => rm(home, { recursive: true, force: true }))

  it('serves until it is told to stop, and is found by the other commands', async () => {
    const { child, ended, e2b } = await serve()
    try {
      const { sandboxId } = await e2b.Sandbox.create({ metadata: { run: '7' } })
      expect(JSON.parse((await run('ls', '--json')).out)).toMatchObject({
        sandboxId,
        state: 'running',
        metadata: { run: '7' },
      })
      expect(await run('exec', sandboxId, '--', 'echo', "it's", 'here')).toEqual({
        code: 0,
        out: "it's here\n",
        err: '',
      })
      const followed = run('logs', sandboxId, '-f')
      expect((await run('serve', '--listen', '127.0.0.1:0')).err).toContain('cannot use')
      expect(await run('kill', sandboxId)).toMatchObject({ out: `ended sandbox ${sandboxId}\n` })
      const { code, out } = await followed
      const messages = out.replaceAll(/^\S+Z {2}/gm, '').split('\n')
      expect([code, messages.at(0), messages.at(-2)]).toEqual([
        0,
        'sandbox started from the template base',
        'sandbox ended',
      ])
      expect(messages).toContain("it's here")
      expect((await run('logs', sandboxId)).out).toBe(out)
      expect(await run('logs', 'inever')).toMatchObject({
        code: 1,
        err: expect.stringContaining('cannot read the logs of the sandbox inever'),
      })
      await e2b.Sandbox.create()
    } finally {
      child.kill('SIGTERM')
      await ended
    }
    const left = await readdir(join(home, '.cairn/sandboxes'), { recursive: true })
    expect(left.filter((name) => /^(?:sandboxes|disks|jails\/i)/.test(name)).toSorted()).toEqual([
      'disks',
      'sandboxes',
    ])
    expect((await run('ls')).err).toContain('cairn sandbox serve')
  })

  it('killed with -9, has kept what was paused, and the next one cleans up', async () => {
    const first = await serve()
    const made = await first.e2b.Sandbox.create()
    await made.files.write('kept.txt', 'kept')
    await made.pause()
    const lost = await first.e2b.Sandbox.create()
    first.child.kill('SIGKILL')
    await first.ended
    const second = await serve()
    try {
      const again = await second.e2b.Sandbox.connect(made.sandboxId)
      await expect(again.files.read('kept.txt')).resolves.toBe('kept')
      const listed = await second.e2b.Sandbox.list().nextItems()
      expect(listed.map(({ sandboxId }) => sandboxId)).toEqual([made.sandboxId])
      const jails = await readdir(join(home, '.cairn/sandboxes/jails'))
      expect(jails).not.toContain(lost.sandboxId)
    } finally {
      second.child.kill('SIGTERM')
      await second.ended
    }
  })

  it('prints templates from one list', async () => {
    const docker = (await run('template', '--docker')).out
    const e2b = (await run('template', '--e2b', '--name', 'mine')).out
    for (const word of ['fuse3', 'user_allow_other', '/usr/local/bin/cairn'])
      expect([docker.includes(word), e2b.includes(word)]).toEqual([true, true])
    expect(e2b).toContain('Template.build(template, "mine"')
    expect(await run('template')).toMatchObject({ code: 2 })
    const out = join(home, 'image')
    env['CAIRN_SINGLE_FILE'] = program
    expect(await run('template', '--docker', '--out', out)).toMatchObject({ code: 0 })
    expect((await readdir(out)).toSorted()).toEqual(['Dockerfile', 'cairn'])
  })
})
