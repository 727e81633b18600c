import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sandbox } from 'e2b'
import { describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'
import type { SandboxLogEntry } from './logs/sandbox-log.ts'

describe.skipIf(!canServe)('the logs of a sandbox', () => {
  const test = serveForTests()

  async function get(path: string): Promise<{ status: number; body: unknown }> {
    const headers = { 'x-api-key': test.server.apiKey }
    const answer = await fetch(`${test.server.url}${path}`, { headers })
    return { status: answer.status, body: await answer.json() }
  }
  async function logsOf({ sandboxId }: Sandbox, query = ''): Promise<SandboxLogEntry[]> {
    const { body } = await get(`/v2/sandboxes/${sandboxId}/logs${query}`)
    return (body as { logs: SandboxLogEntry[] }).logs
  }
  const messages = (entries: readonly SandboxLogEntry[]): string[] =>
    entries.map(({ message }) => message)

  it('tell what ran and what it printed, also after the end and after a restart', async () => {
    const sandbox = await test.e2b.Sandbox.create()
    await sandbox.commands.run('echo out; echo err >&2')
    await sandbox.commands.run('exit 3').catch(() => undefined)
    await sandbox.kill()
    const expected = [
      'sandbox started from the template base',
      'process started: echo out; echo err >&2',
      'process ended: exit status 0',
      'process started: exit 3',
      'process ended: exit status 3',
      'sandbox ended',
    ]
    const entries = await logsOf(sandbox)
    expect(messages(entries)).toEqual(expect.arrayContaining([...expected, 'out', 'err']))
    expect(entries).toContainEqual({
      timestamp: expect.any(String),
      level: 'info',
      message: 'err',
      fields: { logger: 'process', pid: expect.any(String), event_type: 'stderr' },
    })
    await test.restart()
    expect(await logsOf(sandbox)).toEqual(entries)
  })

  it('the logs of a sandbox are read by time, level, words and direction', async () => {
    const sandbox = await test.e2b.Sandbox.create()
    for (const word of ['one', 'two']) await sandbox.commands.run(`echo ${word}`)
    await sandbox.commands.run('false').catch(() => undefined)
    const all = await logsOf(sandbox)
    const times = all.map(({ timestamp }) => timestamp)
    expect(new Set(times).size).toBe(times.length)
    expect(messages(await logsOf(sandbox, '?level=error'))).toEqual([
      'process ended: exit status 1',
    ])
    expect(messages(await logsOf(sandbox, '?search=two&direction=backward&limit=1'))).toEqual([
      'two',
    ])
    const later = Date.parse(times[2]!)
    expect(await logsOf(sandbox, `?cursor=${later}`)).toEqual(all.slice(2))
    expect(await logsOf(sandbox, `?direction=backward&cursor=${later}`)).toEqual(
      all.slice(0, 3).toReversed(),
    )
    await sandbox.kill()
  })

  it("the logs of a sandbox are lines of JSON for E2B's command line", async () => {
    const sandbox = await test.e2b.Sandbox.create()
    await sandbox.commands.run('echo hi')
    const { body } = await get(`/sandboxes/${sandbox.sandboxId}/logs`)
    const { logs } = body as { logs: { timestamp: string; line: string }[] }
    expect(logs.map(({ line }) => JSON.parse(line) as unknown)).toContainEqual({
      level: 'info',
      logger: 'process',
      message: 'hi',
      pid: expect.any(String),
      event_type: 'stdout',
    })
    await sandbox.kill()
  })

  it('take a megabyte at most, and have the newest entries', async () => {
    const sandbox = await test.e2b.Sandbox.create()
    await sandbox.commands.run('seq 500000; echo the last line')
    await sandbox.kill()
    const entries = await logsOf(sandbox, '?direction=backward&limit=1000')
    expect(messages(entries).join('')).toContain('the last line')
    expect(JSON.stringify(entries).length).toBeLessThan(2 << 20)
    expect((await readdir(join(test.data, 'logs'))).toSorted()).toContain(
      `${sandbox.sandboxId}.log.old`,
    )
  })

  it('the logs of a sandbox that never was are not found', async () => {
    expect(await get('/v2/sandboxes/inever/logs')).toMatchObject({ status: 404 })
    expect(await get(`/v2/sandboxes/${encodeURIComponent('../tls/ca')}/logs`)).toMatchObject({
      status: 404,
    })
    expect(await get('/v2/sandboxes/inever/logs?level=loud')).toMatchObject({ status: 400 })
  })
})
