import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

describe.skipIf(!canServe)('templates, through the e2b package', () => {
  const test = serveForTests()
  let context: string
  beforeAll(async () => {
    context = await mkdtemp(join(tmpdir(), 'cairn-context-'))
    await mkdir(join(context, 'app'))
    await writeFile(join(context, 'app/main.py'), 'print("built in")\n')
    await writeFile(join(context, 'app/data.txt'), 'data\n')
    await writeFile(join(context, 'one.cfg'), 'cfg\n')
  })
  afterAll(() => rm(context, { recursive: true, force: true }))

  it('templates are built step by step, and their sandboxes start as they were left', async () => {
    const { Template, Sandbox } = test.e2b
    const lines: string[] = []
    const template = Template({ fileContextPath: context })
      .fromBaseImage()
      .setEnvs({ STAGE: 'built' })
      .setWorkdir('/srv/app')
      .copy('app', '/srv/app')
      .copy('one.cfg', 'conf/renamed.cfg', { mode: 0o600 })
      .runCmd('id -un > by-user && echo $STAGE > stage')
      .runCmd('echo only root > /root-made', { user: 'root' })
      .setStartCmd('python3 -m http.server 8080', 'bash -c ": < /dev/tcp/127.0.0.1/8080"')
    const built = await Template.build(template, 'my-app:v1', {
      onBuildLogs: ({ message }) => void lines.push(message),
    })
    expect(built.templateId).toMatch(/^[0-9a-z]+$/)
    expect(lines.some((line) => line.includes('RUN id -un'))).toBe(true)
    const sandbox = await Sandbox.create('my-app')
    const { stdout } = await sandbox.commands.run(
      'pwd; python3 main.py; cat stage by-user /root-made; stat -c "%a %U" conf/renamed.cfg; curl -s localhost:8080/data.txt; echo $STAGE',
    )
    expect(stdout).toBe('/srv/app\nbuilt in\nbuilt\nuser\nonly root\n600 user\ndata\nbuilt\n')
    await sandbox.kill()
    await expect(Template.exists('my-app')).resolves.toBe(true)
    await expect(Template.exists('not-there')).resolves.toBe(false)
  })

  it('templates are the base of others, and have tags', async () => {
    const { Template, Sandbox } = test.e2b
    await Template.build(Template().fromTemplate('my-app').runCmd('echo 2 > second'), 'child')
    const sandbox = await Sandbox.create('child')
    await expect(sandbox.files.read('/srv/app/second')).resolves.toBe('2\n')
    await sandbox.kill()
    await Template.assignTags('child:default', ['stable'])
    const tags = (await Template.getTags('child')).map(({ tag }) => tag)
    expect(tags.toSorted()).toEqual(['default', 'stable'])
    const tagged = await Sandbox.create('child:stable')
    await tagged.kill()
  })

  it('templates that fail say at which step and with which words', async () => {
    const { Template } = test.e2b
    const failing = Template()
      .fromBaseImage()
      .runCmd('true')
      .runCmd('sleep 1000 & echo broken words >&2; exit 4')
    await expect(Template.build(failing, 'broken')).rejects.toThrow(/exit status 4.*broken words/s)
    await expect(
      Template.build(Template().fromImage('registry.example.org/mine:1'), 'foreign'),
    ).rejects.toThrow(/it fetches no images.*Start from debian:12/s)
  })

  it('take over what a slow step made, also after a restart, until they are told to skip the cache', async () => {
    const slow = 'sleep 1; date +%N > made'
    const build = async (quick: string, skipCache = false): Promise<[string, string[]]> => {
      const { Template, Sandbox } = test.e2b
      const lines: string[] = []
      const template = Template().fromBaseImage().setWorkdir('/srv').setEnvs({ A: '1' })
      await Template.build(template.runCmd(slow).runCmd(quick), 'kept', {
        skipCache,
        onBuildLogs: ({ message }) => void lines.push(message),
      })
      const sandbox = await Sandbox.create('kept')
      const made = await sandbox.commands.run('cat made; cat last; pwd; echo $A')
      await sandbox.kill()
      return [made.stdout, lines.filter((line) => line.startsWith('CACHED'))]
    }
    const [first, none] = await build('echo 1 > last')
    const [second, cached] = await build('echo 2 > last')
    expect(none).toEqual([])
    expect(second).toBe(first.replace('\n1\n/srv', '\n2\n/srv'))
    expect(cached.at(-1)).toContain('CACHED [3/4] RUN sleep 1')
    await test.restart()
    expect((await build('echo 2 > last'))[0]).toBe(second)
    const [fresh, skipped] = await build('echo 2 > last', true)
    expect(fresh).not.toBe(second)
    expect(skipped).toEqual([])
    expect((await build('echo 2 > last'))[0]).toBe(fresh)
  })

  it('outlive the server', async () => {
    await test.restart()
    const sandbox = await test.e2b.Sandbox.create('child')
    await expect(sandbox.files.read('/srv/app/second')).resolves.toBe('2\n')
    await sandbox.kill()
  })
})
