import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Sandbox } from 'e2b'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

/** What E2B's own tests ask of a server, beyond what programs use every day. */
describe.skipIf(!canServe)('small things are as at E2B', () => {
  const test = serveForTests()
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await test.e2b.Sandbox.create()
  })
  afterAll(() => sandbox.kill())

  const envd = (
    path: string,
    body: string | Uint8Array<ArrayBuffer>,
    type: string,
  ): Promise<Response> =>
    fetch(`${test.server.url}${path}`, {
      method: 'POST',
      body,
      headers: {
        'content-type': type,
        'connect-timeout-ms': '300',
        'e2b-sandbox-id': sandbox.sandboxId,
        'e2b-sandbox-port': '49983',
        'x-access-token': String(Reflect.get(sandbox, 'envdAccessToken')),
      },
    })

  it('an expired signature says so', async () => {
    await sandbox.files.write('signed.txt', 'signed')
    const url = await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: -10_000 })
    const answer = await fetch(url)
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { code: 401, message: 'signature is already expired' },
    ])
    const good = await fetch(
      await sandbox.downloadUrl('signed.txt', { useSignatureExpiration: 10_000 }),
    )
    expect(await good.text()).toBe('signed')
  })

  it('a command that takes too long ends its stream with deadline_exceeded', async () => {
    const process = { cmd: '/bin/sleep', args: ['100'] }
    const message = Buffer.from(JSON.stringify({ process, stdin: false }))
    const frame = Buffer.concat([Buffer.alloc(5), message])
    frame.writeUInt32BE(message.length, 1)
    const answer = await envd('/process.Process/Start', frame, 'application/connect+json')
    const said = await answer.text()
    expect(said).toContain('"code":"deadline_exceeded"')
    expect(said).not.toContain('"end"')
  })

  it('polled watchers give the entries that were asked for', async () => {
    await sandbox.files.makeDir('watched')
    const ask = async (method: string, body: object): Promise<Record<string, unknown>> => {
      const path = `/filesystem.Filesystem/${method}`
      const answer = await envd(path, JSON.stringify(body), 'application/json')
      return (await answer.json()) as Record<string, unknown>
    }
    const { watcherId } = await ask('CreateWatcher', { path: 'watched', includeEntry: true })
    await sandbox.files.write('watched/one.txt', 'one')
    const seen: unknown[] = []
    await expect
      .poll(async () => {
        seen.push(...((await ask('GetWatcherEvents', { watcherId }))['events'] as unknown[]))
        return seen
      })
      .toContainEqual({
        name: 'one.txt',
        type: 'EVENT_TYPE_WRITE',
        entry: expect.objectContaining({ path: '/home/user/watched/one.txt', size: '3' }),
      })
    await ask('RemoveWatcher', { watcherId })
  })

  it('setTimeout(0) ends a sandbox', async () => {
    const brief = await test.e2b.Sandbox.create()
    await brief.setTimeout(0)
    await expect.poll(() => brief.isRunning()).toBe(false)
  })
})

describe.skipIf(!canServe)('builds are as at E2B', () => {
  const test = serveForTests()
  let context: string
  beforeAll(async () => {
    context = await mkdtemp(join(tmpdir(), 'cairn-context-'))
    await writeFile(join(context, 'one.cfg'), 'cfg\n')
  })
  afterAll(() => rm(context, { recursive: true, force: true }))

  it('a relative target of copy is below the home, and USER makes a user that is missing', async () => {
    const { Template, Sandbox } = test.e2b
    const template = Template({ fileContextPath: context })
      .fromBaseImage()
      .copy('one.cfg', 'conf/')
      .setUser('builder')
      .runCmd('whoami > ~/who')
      .copy('one.cfg', 'mine.cfg')
    await Template.build(template, 'relative')
    const sandbox = await Sandbox.create('relative')
    const { stdout } = await sandbox.commands.run(
      'cat /home/user/conf/one.cfg ~/who ~/mine.cfg; stat -c %U ~/mine.cfg',
    )
    expect(stdout).toBe('cfg\nbuilder\ncfg\nbuilder\n')
    await sandbox.kill()
    const listed = await fetch(`${test.server.url}/templates`, {
      headers: { 'x-api-key': test.server.apiKey },
    })
    expect(await listed.json()).toContainEqual(
      expect.objectContaining({ names: ['relative'], diskSizeMB: 10_240, buildStatus: 'ready' }),
    )
  })

  it('mcp starts the gateway of the template mcp-gateway', async () => {
    const { Template, Sandbox } = test.e2b
    const mcp = { 'github/org/tools': { runCmd: 'tools' } }
    await expect(Sandbox.create({ mcp })).rejects.toThrow(
      "mcp needs the template 'mcp-gateway', and this server has no gateway of its own.",
    )
    const gateway = `mkdir -p /etc/mcp-gateway
echo "$GATEWAY_ACCESS_TOKEN" > /etc/mcp-gateway/.token
echo "$@" > /etc/mcp-gateway/arguments`
    await Template.build(
      Template()
        .fromBaseImage()
        .runCmd(
          `printf '#!/bin/sh\n%s\n' '${gateway}' > /usr/local/bin/mcp-gateway && chmod +x /usr/local/bin/mcp-gateway`,
          { user: 'root' },
        ),
      'mcp-gateway',
    )
    const sandbox = await Sandbox.create({ mcp })
    const read = (name: string): Promise<string> =>
      sandbox.files.read(`/etc/mcp-gateway/${name}`, { user: 'root' })
    expect(await read('arguments')).toBe(`--config ${JSON.stringify(mcp)}\n`)
    expect(await read('.token')).toBe(`${await sandbox.getMcpToken()}\n`)
    expect(sandbox.getMcpUrl()).toMatch(/^https:\/\/50005-/)
    await sandbox.kill()
  })

  it('RUN as an unknown user fails with the words of E2B', async () => {
    const { Template } = test.e2b
    const template = Template().fromBaseImage().runCmd('whoami', { user: 'root123' })
    await expect(Template.build(template, 'unknown-user')).rejects.toThrow(
      "failed to run command 'whoami': command failed: unauthenticated: invalid username: 'root123'",
    )
  })

  it('invalid tags are refused', async () => {
    const { Template } = test.e2b
    const template = Template().fromBaseImage()
    const build = Template.build(template, 'tagged', { tags: ['not a tag'] })
    await expect(build).rejects.toThrow(/invalid tag 'not a tag'/)
    await Template.build(template, 'tagged', { tags: ['v1'] })
    await expect(Template.assignTags('tagged:v1', ['no/slash'])).rejects.toThrow(/invalid tag/)
    await expect(
      Template.assignTags('tagged:v1', ['0b16d3a4-8f5e-4b7a-9c1d-2e3f4a5b6c7d']),
    ).rejects.toThrow(/invalid tag/)
  })
})
