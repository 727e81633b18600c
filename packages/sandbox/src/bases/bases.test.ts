import { tmpdir } from 'node:os'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { E2B as CodeE2B } from '@e2b/code-interpreter'
import { E2B, type Sandbox as E2BMachine } from 'e2b'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type E2BServer, serveE2B } from '../e2b-server/server.ts'
import { canServe } from '../../test/serve-for-test.ts'

const isSoak = Number(process.env['CAIRN_RUNS'] ?? 1) > 1

describe.skipIf(!canServe)('systems that cannot be made here', () => {
  let directory: string
  const path = process.env['PATH']
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-bases-'))
    process.env['PATH'] = '/nowhere'
  })
  afterAll(async () => {
    process.env['PATH'] = path
    await rm(directory, { recursive: true, force: true })
  })

  it('systems that cannot be made here are refused with what to install, and base is not the host behind your back', async () => {
    const server = await serveE2B({
      data: join(directory, 'data'),
      bases: join(directory, 'bases'),
    })
    try {
      const { url, apiKey } = server
      const { Sandbox, Template } = new E2B({ apiKey, apiUrl: url, sandboxUrl: url })
      const why = /cannot make (?:base|debian:12): mmdebstrap is missing.*--host-system/
      await expect(Sandbox.create()).rejects.toThrow(why)
      const template = Template().fromDebianImage('12')
      await expect(Template.build(template, 'mine')).rejects.toThrow(why)
    } finally {
      await server.close()
    }
  })
})

/** Making them takes minutes and needs the registries of Debian and npm. They are kept for the next run. */
describe.skipIf(!canServe || !isSoak)('the systems that are always there', () => {
  let directory: string
  let server: E2BServer
  const sdk = (): { apiKey: string; apiUrl: string; sandboxUrl: string } => ({
    apiKey: server.apiKey,
    apiUrl: server.url,
    sandboxUrl: server.url,
  })
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-bases-'))
    server = await serveE2B({ data: directory })
  })
  afterAll(async () => {
    await server.close()
    await rm(directory, { recursive: true, force: true })
  })

  /** The first one is made meanwhile; the server says so, as a busy one would. */
  async function create(template: string): Promise<E2BMachine> {
    const { Sandbox } = new E2B(sdk())
    for (;;)
      try {
        return await Sandbox.create(template)
      } catch (error) {
        if (!String(error).includes('is being made')) throw error
      }
  }

  it.each([
    ['base', 'node -v; python -V; git --version', /^v24\..*Python 3\.11.*git version/s],
    ['node', 'node -p process.versions.node; npm -v', /^24\./],
    ['python', 'python -c "print(40 + 2)"; pip --version', /^42\npip 2.*python 3/s],
  ])('%s is what its name says', async (template, command, answer) => {
    const sandbox = await create(template)
    expect((await sandbox.commands.run(command)).stdout).toMatch(answer)
    expect((await sandbox.commands.run('cat /etc/debian_version')).stdout).toMatch(/^12\./)
    await sandbox.kill()
  })

  it('the recipe of Deeplake for FUSE works in base', async () => {
    const sandbox = await create('base')
    const { stdout } = await sandbox.commands.run(
      'sudo apt-get update -qq && sudo apt-get install -y -qq fuse > /dev/null 2>&1 && sudo chmod 666 /dev/fuse && ' +
        "sudo sed -i 's/#user_allow_other/user_allow_other/' /etc/fuse.conf && grep user_allow_other /etc/fuse.conf",
      { timeoutMs: 120_000 },
    )
    expect(stdout).toBe('user_allow_other\n')
    await sandbox.kill()
  })

  it('runCode runs in a Jupyter kernel that remembers', async () => {
    await (await create('code-interpreter-v1')).kill()
    const { Sandbox } = new CodeE2B(sdk())
    const sandbox = await Sandbox.create()
    await sandbox.runCode('x = 1')
    const printed: string[] = []
    const execution = await sandbox.runCode('print("told"); x += 1; x', {
      onStdout: ({ line }) => void printed.push(line),
    })
    expect([execution.text, printed, execution.executionCount]).toEqual(['2', ['told\n'], 2])
    const failed = await sandbox.runCode('1 / 0')
    expect(failed.error).toMatchObject({ name: 'ZeroDivisionError', value: 'division by zero' })
    const plot = 'import matplotlib.pyplot as p; p.plot([1, 2]); p.show()'
    expect((await sandbox.runCode(plot)).results[0]?.png).toMatch(/^iVBOR/)
    const table = 'import pandas; pandas.DataFrame({"a": [1]})'
    expect((await sandbox.runCode(table)).results[0]?.html).toContain('<table')
    const show = 'import os; os.environ.get("ONE")'
    expect((await sandbox.runCode(show, { envs: { ONE: 'once' } })).text).toBe('once')
    expect((await sandbox.runCode(show)).text).toBeUndefined()
    await sandbox.kill()
  })

  it('contexts of runCode are apart, and can be restarted and removed', async () => {
    await (await create('code-interpreter-v1')).kill()
    const { Sandbox } = new CodeE2B(sdk())
    const sandbox = await Sandbox.create()
    const context = await sandbox.createCodeContext({ cwd: '/tmp' })
    await sandbox.runCode('y = 7', { context })
    expect((await sandbox.runCode('import os; (y, os.getcwd())', { context })).text).toBe(
      "(7, '/tmp')",
    )
    expect((await sandbox.runCode('y')).error?.name).toBe('NameError')
    await sandbox.restartCodeContext(context)
    expect((await sandbox.runCode('y', { context })).error?.name).toBe('NameError')
    expect(await sandbox.listCodeContexts()).toHaveLength(2)
    await sandbox.removeCodeContext(context)
    expect(await sandbox.listCodeContexts()).toHaveLength(1)
    const late = sandbox.runCode('import time; time.sleep(60)', { timeoutMs: 500 })
    await expect(late).rejects.toThrow(/timed out/)
    expect((await sandbox.runCode('1 + 1')).text).toBe('2')
    const foreign = await sandbox.runCode('1', { language: 'r' })
    expect(foreign.error?.value).toContain('none for r')
    await sandbox.kill()
  })
})
