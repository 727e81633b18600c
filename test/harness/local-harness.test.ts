import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Harness,
  type HarnessOptions,
  type InstanceStore,
  openHarness,
  openSqliteInstances,
  type ProviderInput,
} from '@cairn/agents/harness'
import type { Workspace } from '@cairn/sdk'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { noJail } from '../sandbox/local-setup.ts'

describe.skipIf(noJail !== undefined)(`a harness on jails (${noJail ?? 'as root'})`, () => {
  let server: TestServer
  let directory: string
  let store: InstanceStore
  let workspace: Workspace
  let now = Date.now()

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-harness-'))
    server = await startServer()
    store = await openSqliteInstances(join(directory, 'instances.db'))
    await server.cairn.workspaces.create('site')
    workspace = server.cairn.workspace('site')
  })
  afterAll(async () => {
    await store.close()
    await server.stop()
    await rm(directory, { recursive: true, force: true })
  })

  const open = (
    config: Partial<ProviderInput> = {},
    options: Partial<HarnessOptions> = {},
  ): Harness =>
    openHarness({
      config: { provider: 'local', permissionMode: 'bypass', ...config },
      workspace: { name: 'site', server: server.url, token: server.apiKey },
      store,
      local: { directory: join(directory, 'jails') },
      now: () => now,
      ...options,
    })

  it('persistent: files, processes and set-up stay; jobs run; an idle jail is paused and goes on; its lifetime ends it', async () => {
    const harness = open({
      persistent: true,
      onCreate: ['echo created >> ~/hooks'],
      envVars: { GREETING: 'hello' },
    })
    const bash = async (code: string): Promise<string> => (await harness.run({ code })).stdout
    expect(await bash('pwd; echo $GREETING; echo made > made.txt; echo home > ~/home')).toBe(
      '/mnt/workspaces/site\nhello\n',
    )
    expect(await workspace.files.readText('/made.txt')).toBe('made\n')
    const again = open({ persistent: true })
    expect(await again.run({ code: 'cat ~/home ~/hooks' })).toMatchObject({
      stdout: 'home\ncreated\n',
    })

    const { id } = await harness.startJob({ code: 'echo begun; sleep 1000' })
    await expect.poll(() => harness.jobs!.logs(id)).toBe('begun\n')
    now += 900_000
    await harness.lookAfter()
    expect(await harness.jobs!.status(id)).toMatchObject({ status: 'running' })
    expect(await harness.jobs!.stop(id)).toMatchObject({ status: 'failed', exitCode: 143 })
    now += 900_000
    await harness.lookAfter()
    expect(await bash('cat ~/home')).toBe('home\n')

    now += 604_800_000
    await harness.lookAfter()
    expect(await store.list('local')).toEqual([])
    expect(await bash('cat made.txt; ls ~/home')).toBe('made\n')
    expect(await harness.release()).toBe(true)
    expect(await harness.release()).toBe(false)
    await harness.close()
    await again.close()
  })

  it('a job whose jail has ended is settled as lost', async () => {
    const harness = open({ persistent: true })
    const { id } = await harness.startJob({ code: 'sleep 1000' })
    await harness.release()
    expect(await harness.jobs!.status(id)).toMatchObject({ status: 'failed', exitCode: 137 })
    await harness.close()
  })

  it('a jail of a process that lives is refused to others; one of a dead process is replaced', async () => {
    const harness = open({ persistent: true })
    await harness.run({ code: 'true' })
    const own = (await store.list('local'))[0]!
    await harness.release()
    const of = (startedAt: string): string => {
      const place = JSON.parse(own.externalId) as { process: { pid: number; startedAt: string } }
      // Process 1 lives as long as the machine.
      return JSON.stringify({ ...place, process: { pid: 1, startedAt } })
    }
    const startedAt = readFileSync('/proc/1/stat', 'latin1').split(') ')[1]!.split(' ')[19]!
    await store.claim({ ...own, createdAtMs: now, externalId: of(startedAt) })
    await expect(harness.run({ code: 'true' })).rejects.toThrow(
      /jail of process 1 on .*sandbox serve/,
    )
    await store.release('local', 'site', of(startedAt))
    await store.claim({ ...own, createdAtMs: now, externalId: of('1') })
    expect(await harness.run({ code: 'echo new' })).toMatchObject({ stdout: 'new\n' })
    await harness.release()
    await harness.close()
  })

  it('network: deny-all, the default, has no way out, restricted only to what it names', async () => {
    const routes = 'tail -n +2 /proc/net/route | wc -l'
    expect(await open().run({ code: routes })).toMatchObject({ stdout: '0\n' })
    const restricted = open({ network: { mode: 'restricted', allowDomains: ['two.test'] } })
    const reach =
      'getent hosts one.test || echo unknown; curl -s -m 20 http://198.51.100.1/ || echo refused'
    expect(await restricted.run({ code: reach })).toMatchObject({ stdout: 'unknown\nrefused\n' })
  })

  it('a call that is aborted ends its command', async () => {
    const harness = open({ persistent: true })
    const controller = new AbortController()
    const running = harness.run({ code: 'touch started; sleep 1000', signal: controller.signal })
    await expect.poll(() => workspace.files.exists('/started')).toBe(true)
    controller.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    await expect
      .poll(async () => (await harness.run({ code: 'pgrep -c sleep; true' })).stdout)
      .toBe('0\n')
    await harness.release()
    await harness.close()
  })
})
