import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Harness, openHarness } from '@cairn/agents/harness'
import type { Workspace } from '@cairn/sdk'
import { noJail } from '../sandbox/local-setup.ts'
import { useHarnessSite } from './e2b-site.ts'

/** What the documentation of a harness says of E2B, and what it means here. The numbers are those of its statements. */
describe.skipIf(noJail !== undefined)(`a harness at E2B (${noJail ?? 'as root'})`, () => {
  const site = useHarnessSite()
  let workspace: Workspace
  let harness: Harness
  let callbacks: Server
  let now = Date.now()

  beforeAll(async () => {
    workspace = await site.makeWorkspace()
    callbacks = createServer((request, response) => void relay(request, response))
    await new Promise<void>((resolve) => callbacks.listen(0, '127.0.0.1', resolve))
    const { port } = callbacks.address() as AddressInfo
    harness = site.open(
      workspace.name,
      {
        persistent: true,
        onCreate: ['echo created >> ~/hooks && pwd >> ~/hooks'],
        onResume: ['echo resumed >> ~/hooks'],
        envVars: { GREETING: 'hello world' },
        options: { workspaceRoot: '/mnt/workspaces//' },
      },
      { publicBaseUrl: `http://cairn.test:${port}/base`, now: () => now },
    )
  }, 180_000)
  afterAll(() => {
    callbacks.closeAllConnections()
    callbacks.close()
  })

  /** What a program's own server does with requests at `publicBaseUrl`. */
  async function relay(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const answer = await harness.handleCallback(
      new Request(`http://callbacks${request.url}`, {
        method: request.method ?? 'GET',
        headers: request.headers as Record<string, string>,
        body: await text(request),
      }),
    )
    response.writeHead(answer.status).end(await answer.text())
  }

  const call = async (name: string, input: object): Promise<string> => {
    const answer = await harness
      .tools()
      .find((tool) => tool.name === name)!
      .run(input)
    if (answer.isError) throw new Error(answer.text)
    return answer.text
  }
  const bash = async (code: string): Promise<string> => (await harness.run({ code })).stdout

  it('1: a workspace is accepted; it is mounted and verified before the first command', async () => {
    await workspace.files.write('/before.txt', 'was there')
    expect(await bash('cat before.txt; cat .cairn/status | head -n 1')).toContain('was there')
    const lost = site.open('no-such-workspace')
    await expect(lost.run({ code: 'touch /tmp/ran' })).rejects.toThrow(/no-such-workspace/)
    expect(await site.machines()).toHaveLength(1)
  })

  it('2: it is at <workspaceRoot>/<namespace>, belongs to the user, and bash starts there', async () => {
    expect(harness.mountPath).toBe(`/mnt/workspaces/${workspace.name}`)
    expect(await bash('pwd; stat -c %U .; id -un')).toBe(`${harness.mountPath}\nuser\nuser\n`)
  })

  it('4: apiKey may come from E2B_API_KEY, and templateId is template', async () => {
    const { E2B_API_KEY: apiKey, E2B_API_URL: apiUrl = '' } = site.setup.env
    process.env['E2B_API_KEY'] = apiKey
    try {
      const bare = openHarness({
        config: {
          provider: 'e2b',
          network: { mode: 'allow-all' },
          options: { templateId: 'base' },
        },
        e2b: { apiUrl, sandboxUrl: apiUrl },
      })
      expect(await bare.run({ code: 'echo here' })).toMatchObject({ ok: true, stdout: 'here\n' })
    } finally {
      delete process.env['E2B_API_KEY']
    }
  })

  it('5: the permission mode says which tools need approval', () => {
    const asks = (permissionMode: 'ask' | 'edit' | 'bypass', isReadOnly = false): string[] => {
      const { url: server, apiKey: token } = site.setup.server
      const workspaceOf = { name: workspace.name, server, token, readOnly: isReadOnly }
      return site
        .open(undefined, { permissionMode }, { workspace: workspaceOf })
        .tools()
        .filter(({ needsApproval }) => needsApproval)
        .map(({ name }) => name)
    }
    expect(asks('ask')).toEqual(['write', 'edit', 'bash'])
    expect(asks('edit')).toEqual(['bash'])
    expect(asks('bypass')).toEqual([])
    expect(asks('ask', true)).toEqual([])
  })

  it('8: a background command has no deadline, starts in the workspace, and keeps its machine up', async () => {
    const { id } = await harness.startJob({
      code: 'pwd; echo $GREETING; while [ ! -e go ]; do sleep 0.1; done',
    })
    const [machine = ''] = await site.machines()
    const { endAt } = await site.e2b.Sandbox.getInfo(machine)
    // The idle time is 15 minutes.
    expect(endAt.getTime() - Date.now()).toBeGreaterThan(30 * 60_000)
    await expect.poll(() => harness.jobs!.logs(id)).toBe(`${harness.mountPath}\nhello world\n`)
    await workspace.files.write('/go', '')
    await expect.poll(async () => (await harness.jobs!.status(id)).status).toBe('completed')
    await workspace.files.remove('/go')
  })

  it('9: it has status, live logs and stop; the final log is in the workspace', async () => {
    const { id } = await harness.startJob({ code: 'echo begun; sleep 1000 & sleep 1000' })
    await expect.poll(() => call('async_status', { statusId: id, action: 'logs' })).toBe('begun\n')
    expect(await call('async_status', { statusId: id })).toBe('running')
    expect(await call('async_status', { statusId: id, action: 'stop' })).toContain(
      'failed (exit code 143)',
    )
    expect(await bash('pgrep -c sleep; true')).toBe('0\n')
    const short = await harness.startJob({ code: 'echo "kept \\"log\\""; exit 3' })
    await expect
      .poll(() => harness.jobs!.status(short.id))
      .toMatchObject({ status: 'failed', exitCode: 3 })
    expect(await bash(`cat .fp-jobs/${short.id}.log`)).toBe('kept "log"\n')
    await expect(harness.jobs!.status('none')).rejects.toThrow(/there is none/)
  })

  it('9: ten at most run at once', async () => {
    const started = await Promise.all(
      Array.from({ length: 10 }, () => harness.startJob({ code: 'sleep 1000' })),
    )
    await expect(harness.startJob({ code: 'true' })).rejects.toThrow(/10 run already/)
    await Promise.all(started.map(({ id }) => harness.jobs!.stop(id)))
    const { id } = await harness.startJob({ code: 'true' })
    await harness.jobs!.stop(id)
  })

  it('10: its end comes as a callback into the result row, once', async () => {
    const { id } = await harness.startJob({
      code: 'printf "a\\tb\\\\c \\"d\\"\\n"; echo ü; exit 4',
    })
    await expect.poll(async () => (await site.store.findJob(id))?.status).toBe('failed')
    expect(await site.store.findJob(id)).toMatchObject({
      status: 'failed',
      exitCode: 4,
      logs: 'a\tb\\c "d"\nü\n',
      error: 'the command ended with 4',
    })
    expect(await harness.jobs!.observe(id)).toMatchObject({ exitCode: 4 })
    expect(await harness.jobs!.observe(id)).toBeUndefined()
  })

  it('10: strangers are answered 404, a second message 409; without a callback the harness settles it', async () => {
    const silent = site.open(workspace.name, { persistent: true })
    const { id } = await silent.startJob({ code: 'echo done' })
    const body = JSON.stringify({ status: 'completed', response: { exitCode: 0, logs: '' } })
    const send = (job: string, token: string): Promise<number> =>
      harness
        .handleCallback(
          new Request(`http://x/sandbox-jobs/${job}/complete`, {
            method: 'POST',
            body,
            headers: { 'x-job-token': token },
          }),
        )
        .then(({ status }) => status)
    expect([await send(id, 'wrong'), await send('unknown', 'wrong')]).toEqual([404, 404])
    await expect.poll(async () => (await silent.jobs!.status(id)).status).toBe('completed')
    expect(await site.store.findJob(id)).toMatchObject({ status: 'completed', logs: 'done\n' })
    const tokenHash = createHash('sha256').update('right').digest('hex')
    const row = (await site.store.findJob(id))!
    await site.store.addJob({ ...row, id: 'own', status: 'running', tokenHash })
    expect([await send('own', 'right'), await send('own', 'right')]).toEqual([204, 409])
  })

  it('11 and 18: onCreate runs once in a machine, after the mount; onResume before each call', async () => {
    const lines = (await bash('cat ~/hooks')).trim().split('\n')
    expect(lines.slice(0, 3)).toEqual(['created', harness.mountPath, 'resumed'])
    expect(lines.filter((line) => line === 'created')).toHaveLength(1)
    expect(lines.filter((line) => line === 'resumed').length).toBeGreaterThan(2)
  })

  it('11: a hook that fails ends the call before the command', async () => {
    const failing = site.open(undefined, {
      persistent: true,
      onCreate: ['echo no such package >&2; exit 7'],
      options: { reservationKey: 'hooks', template: 'base' },
    })
    await expect(failing.run({ code: 'touch ~/ran' })).rejects.toThrow(
      /onCreate failed: no such package/,
    )
    const plain = site.open(undefined, {
      persistent: true,
      options: { reservationKey: 'hooks', template: 'base' },
    })
    expect(await plain.run({ code: 'ls ~/ran' })).toMatchObject({ ok: false })
    expect(await plain.release()).toBe(true)
  })

  it('13: preflight names what a template lacks', async () => {
    const bare = site.open(undefined, { options: { template: 'base' } })
    const { found, missing, text: told } = await bare.preflight()
    expect([...Object.keys(found), ...missing].toSorted()).toEqual([
      'fuse',
      'node',
      'python3',
      'rg',
    ])
    for (const name of missing) expect(told).toContain(`${name} is missing: it `)
  })

  it('14: the six tools work on workspace paths', async () => {
    expect(await call('write', { file_path: 'src/a.ts', content: 'let a = 1\n' })).toContain(
      'Wrote /src/a.ts',
    )
    expect(await bash('cat src/a.ts; echo "let b = 2" > src/b.ts')).toBe('let a = 1\n')
    expect(await call('read', { file_path: '/src/b.ts' })).toContain('let b = 2')
    await call('edit', { file_path: 'src/a.ts', old_string: 'let', new_string: 'const' })
    expect(await call('glob', { pattern: 'src/*.ts' })).toContain('/src/a.ts')
    expect(await call('grep', { pattern: 'const', path: '/src' })).toContain('/src/a.ts')
    expect(await call('bash', { command: 'cat src/a.ts; exit 3' })).toBe(
      'const a = 1\n[It ended with 3.]',
    )
    await expect(call('read', { file_path: '../etc/passwd' })).rejects.toThrow(/\.\./)
    await expect(call('read', { file_path: 'a', workspace: 'other' })).rejects.toThrow(/workspace/)
  })

  it('14: files are read, and written, without a machine', async () => {
    const before = await site.machines()
    const idle = site.open(workspace.name)
    const read = idle.tools().find(({ name }) => name === 'read')!
    expect(await read.run({ file_path: 'before.txt' })).toMatchObject({ isError: false })
    expect(await site.machines()).toEqual(before)
  })

  it('14: a read-only workspace can be read and searched; the rest says why not', async () => {
    const { url: server, apiKey: token } = site.setup.server
    const reader = site.open(
      undefined,
      {},
      {
        workspace: { name: workspace.name, server, token, readOnly: true },
      },
    )
    for (const tool of reader.tools()) {
      const { name } = tool
      const input = {
        file_path: 'before.txt',
        content: 'x',
        old_string: 'a',
        new_string: 'b',
        pattern: 'w',
        command: 'x',
      }
      const taken = Object.entries(input).filter(([key]) => key in tool.input.shape)
      const { isError, text: said } = await tool.run(Object.fromEntries(taken))
      const refused = ['write', 'edit', 'bash'].includes(name)
      expect([name, isError, said.includes('read-only')]).toEqual([name, refused, refused])
    }
  })

  it('15: bash runs as given with envVars; a failure is a result', async () => {
    expect(await harness.run({ code: 'echo $GREETING; echo bad >&2; exit 9' })).toMatchObject({
      ok: false,
      exitCode: 9,
      stdout: 'hello world\n',
      stderr: 'bad\n',
      provider: 'e2b',
    })
    expect(await harness.run({ code: 'print(6 * 7)', runtime: 'python' })).toMatchObject({
      stdout: '42\n',
    })
    expect(await harness.run({ code: 'sleep 100', timeoutSeconds: 1 })).toMatchObject({
      ok: false,
      timedOut: true,
    })
    const long = await harness.run({ code: 'head -c 300000 /dev/zero | tr "\\0" x' })
    expect([long.stdout.length, long.truncated]).toEqual([65_536, true])
    const plain = site.open(workspace.name, { persistent: true, runtimes: ['bash'] })
    await expect(plain.run({ code: '1', runtime: 'node' })).rejects.toThrow(/configured for bash/)
  })

  it('6, 7 and 17: one machine for each workspace, found again by every harness, with its files and processes', async () => {
    await bash('echo here > ~/machine-file; touch made; (sleep 1000 > /dev/null 2>&1 &)')
    const before = await site.machines()
    const other = site.open(workspace.name, {
      persistent: true,
      options: { workspaceRoot: '/mnt/workspaces' },
    })
    const seen = await Promise.all([
      other.run({ code: 'cat ~/machine-file; pgrep -c sleep' }),
      harness.run({ code: 'cat ~/machine-file' }),
    ])
    expect(seen.map(({ stdout }) => stdout)).toEqual(['here\n1\n', 'here\n'])
    expect(await site.machines()).toEqual(before)
    expect(await site.store.list('e2b')).toEqual([
      expect.objectContaining({
        reservationKey: workspace.name,
        externalId: before[0],
        workspace: { name: workspace.name, mountPath: harness.mountPath },
      }),
    ])
    const elsewhere = site.open((await site.makeWorkspace()).name, {
      persistent: true,
      options: { reservationKey: workspace.name },
    })
    await expect(elsewhere.run({ code: 'true' })).rejects.toThrow(/reserved under .* mounted/)
  })

  it('6: an unannounced pause loses nothing that was closed, and a call resumes the machine', async () => {
    await bash('echo closed > closed.txt')
    const [machine = ''] = await site.machines()
    await site.e2b.Sandbox.pause(machine)
    expect(await workspace.files.readText('/closed.txt')).toBe('closed\n')
    expect(await bash('cat closed.txt; pgrep -c sleep')).toBe('closed\n1\n')
    expect(await site.machines()).toEqual([machine])
  })

  it('6: the idle time pauses a machine, and does not kill it', async () => {
    const brief = site.open(undefined, {
      persistent: true,
      lifecycle: { idleTimeoutSeconds: 1 },
      options: { reservationKey: 'brief', template: 'base' },
    })
    await brief.run({ code: 'echo kept > ~/file' })
    const machine = (await site.store.find('e2b', 'brief'))!.externalId
    await expect.poll(async () => (await site.e2b.Sandbox.getInfo(machine)).state).toBe('paused')
    expect(await brief.run({ code: 'cat ~/file' })).toMatchObject({ stdout: 'kept\n' })
    await brief.release()
  })

  it('7: two that reserve at once share the machine of the first, and the other one is gone', async () => {
    const other = await site.makeWorkspace()
    const before = (await site.machines()).length
    const [a, b] = [1, 2].map(() => site.open(other.name, { persistent: true }))
    const names = await Promise.all([a, b].map((one) => one!.run({ code: 'hostname' })))
    expect(new Set(names.map(({ stdout }) => stdout)).size).toBe(1)
    expect(await site.machines()).toHaveLength(before + 1)
    await a!.release()
    expect(await site.machines()).toHaveLength(before)
  })

  it('6 and 12: a machine that is gone, or too old, is replaced; its files are at the one place they always have', async () => {
    await bash('echo kept > kept.txt')
    const [first = ''] = await site.machines()
    await site.e2b.Sandbox.kill(first)
    const place = `${harness.mountPath}/kept.txt`
    expect(await bash(`cat ${place}; cat ~/hooks | grep -c created; ls ~/machine-file`)).toBe(
      'kept\n1\n',
    )
    const [second = ''] = await site.machines()
    expect(second).not.toBe(first)
    now += 604_800_000
    expect(await bash(`cat ${place}`)).toBe('kept\n')
    const machines = await site.machines()
    expect(machines).toHaveLength(1)
    expect(machines[0]).not.toBe(second)
    await harness.lookAfter()
    expect(await site.machines()).toEqual(machines)
    now += 604_800_000
    await harness.lookAfter()
    expect(await site.machines()).toEqual([])
  })

  it('3: deny-all and restricted leave a way to the workspace and what they name; what would cut it off is refused', async () => {
    const address = site.addressInside
    const reach = `curl -s -m 5 -o /dev/null -w '%{http_code}' ${site.setup.serverInside}/ || true`
    const e2b = { serverInside: address }
    const open = site.open(workspace.name)
    expect(await open.run({ code: reach })).not.toMatchObject({ stdout: '000' })
    const closed = site.open(workspace.name, { network: {} }, { e2b })
    const result = await closed.run({ code: `${reach}; cat kept.txt` })
    expect(result.stdout).toBe('000kept\n')
    const some = site.open(
      workspace.name,
      { network: { mode: 'restricted', allowDomains: ['cairn.test'] } },
      { e2b },
    )
    expect((await some.run({ code: reach })).stdout).not.toBe('000')
    expect(() => site.open(workspace.name, { network: { mode: 'deny-all' } })).toThrow(
      /out of reach/,
    )
  })

  it('16: without a workspace there is only bash and nothing stays; with one, its files do', async () => {
    const bare = site.open(undefined, { options: { template: 'base' } })
    expect(bare.tools().map(({ name }) => name)).toEqual(['bash'])
    await bare.run({ code: 'touch ~/left' })
    expect(await bare.run({ code: 'ls ~/left' })).toMatchObject({ ok: false })
    const stateless = site.open(workspace.name)
    await stateless.run({ code: 'echo stays > stays.txt; touch ~/left' })
    expect(await stateless.run({ code: 'cat stays.txt; ls ~/left' })).toMatchObject({
      stdout: 'stays\n',
    })
    await expect(stateless.startJob({ code: 'true' })).rejects.toThrow(/Set persistent/)
    expect(await site.machines()).toEqual([])
  })
})
