import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { json, text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { Cairn } from '@cairn/sdk'
import { chooseAnalyst } from '../../examples/handoff/analyst.ts'
import { handoff } from '../../examples/handoff/handoff.ts'
import { runExample } from '../../examples/support/run-example.ts'
import { readSettings } from '../../examples/support/settings.ts'
import { printSteps, type Steps } from '../../examples/support/steps.ts'
import { type E2BSetup, openE2BSetup } from '../sandbox/e2b-setup.ts'
import { noJail } from '../sandbox/local-setup.ts'
import { startServer, type TestServer } from './start-server.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const program = fileURLToPath(new URL('../../examples/handoff/main.ts', import.meta.url))
const title = `quickstart (${noJail ?? 'as root'})`

/** Does something when a step is over, before the next one begins. */
function stepsWith(lines: string[], step: string, interfere: () => Promise<void>): Steps {
  const steps = printSteps((line) => lines.push(line))
  return {
    ...steps,
    run: async (name, work, tell) => {
      const result = await steps.run(name, work, tell)
      if (name === step) await interfere()
      return result
    },
  }
}

describe.skipIf(noJail !== undefined)(`${title}: local`, () => {
  let directory: string
  let server: TestServer
  beforeAll(async () => {
    server = await startServer()
  })
  afterAll(() => server.stop())
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-quickstart-'))
  })
  afterEach(() => rm(directory, { recursive: true, force: true }))

  /** Node keeps compiled code beside it. */
  const leftBehind = async (): Promise<string[]> =>
    (await readdir(directory)).filter((name) => name.startsWith('cairn'))

  const start = (args: readonly string[], env: Record<string, string> = {}) => {
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn(process.execPath, ['--conditions=source', program, ...args], {
      env: { PATH, NODE_COMPILE_CACHE, TMPDIR: directory, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const said = Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return {
      child,
      ended: said.then(([stdout, stderr, [code]]) => ({ stdout, stderr, code: code as number })),
    }
  }

  it('hands the work over to a sandbox that never met the first, with nothing set, and leaves nothing', async () => {
    const { stdout, stderr, code } = await start([]).ended
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(stdout.match(/every byte$/gm)).toHaveLength(2)
    expect(stdout).toContain('Tells when the water is high at a place')
    expect(stdout).toContain('weather is not considered')
    expect(stdout).toContain('(offline summariser, no language model)')
    expect(await leftBehind()).toEqual([])
  })

  it('what was made stays with --data, and a model is asked once a sandbox', async () => {
    const asked: { model: string; messages: { content: string }[] }[] = []
    const model = createServer((request, response) => {
      void json(request).then((body) => {
        asked.push(body as never)
        const content = asked.length === 1 ? '# A fine summary' : 'Tides.'
        response.end(JSON.stringify({ choices: [{ message: { content } }] }))
      })
    }).listen(0, '127.0.0.1')
    await once(model, 'listening')
    const data = join(directory, 'kept')
    const { stderr, code } = await start(['--data', data, '--workspace', 'kept'], {
      LLM_BASE_URL: `http://127.0.0.1:${(model.address() as AddressInfo).port}/v1/`,
      LLM_API_KEY: 'k',
      LLM_MODEL: 'stand-in',
    }).ended
    model.close()
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 })
    expect(asked.map(({ model: name }) => name)).toEqual(['stand-in', 'stand-in'])
    expect(asked[1]!.messages[1]!.content).toContain('# A fine summary')
    expect(readFileSync(join(data, 'owner-key'), 'utf8')).toMatch(/^cairn_/)
  })

  it('one byte that is another one when B looks: named, and the exit code says so', async () => {
    const name = 'tampered'
    const cairn = new Cairn({ server: server.url, apiKey: server.apiKey })
    const lines: string[] = []
    const args = [
      '--server',
      server.url,
      '--api-key-file',
      keyFile(server.apiKey),
      '--workspace',
      name,
    ]
    const tamper = async (): Promise<void> => {
      const { files } = cairn.workspace(name)
      const before = await files.readText('/project/README.md')
      await files.write('/project/README.md', before.replace('tide', 'Tide'))
    }
    const code = await runExample(handoff, args, stepsWith(lines, 'kill A', tamper))
    expect(code).toBe(1)
    const told = lines.find((line) => line.includes('project/README.md: was f 644 '))
    expect(told).toMatch(/was f 644 [0-9a-f]{64}, is f 644 [0-9a-f]{64}$/)
    expect(lines.filter((line) => line.includes('NOT THE SAME'))).toHaveLength(1)
  })

  it('Ctrl-C in the middle: cleans up, and ends as a shell expects', async () => {
    const { child, ended } = start([])
    child.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes(' clone ')) child.kill('SIGINT')
    })
    const { code, stdout } = await ended
    expect(code).toBe(130)
    expect(stdout).not.toContain('sandbox B')
    expect(await leftBehind()).toEqual([])
  })

  it('what has no meaning ends with 2', async () => {
    const ran = await start(['--colour']).ended
    expect(ran.code).toBe(2)
    expect(ran.stderr).toContain("Unknown option '--colour'")
  })
})

describe.skipIf(noJail !== undefined)(`${title}: E2B's own SDK against the local server`, () => {
  let setup: E2BSetup
  beforeAll(async () => {
    setup = await openE2BSetup()
    Object.assign(process.env, setup.env)
  })
  afterAll(async () => {
    for (const name of Object.keys(setup.env)) delete process.env[name]
    await setup.close()
  })

  it('every byte crosses, though the first machine is killed with its mount', async () => {
    const workspace = await setup.makeWorkspace()
    const lines: string[] = []
    const { url, apiKey } = setup.server
    const machines = ['--provider', 'e2b', '--template', setup.template]
    const server = [
      '--server',
      url,
      '--api-key-file',
      keyFile(apiKey),
      '--server-inside',
      setup.serverInside,
    ]
    const args = [...machines, ...server, '--workspace', workspace.name]
    const code = await runExample(
      handoff,
      args,
      printSteps((line) => lines.push(line)),
    )
    expect({ code, lines: code === 0 ? [] : lines }).toEqual({ code: 0, lines: [] })
    expect(lines.filter((line) => line.endsWith('every byte'))).toHaveLength(2)
    await expect(workspace.files.exists('/analysis/qa-response.md')).resolves.toBe(true)
  })
})

describe('quickstart: what is missing is named', () => {
  it.each([
    [['--provider', 'docker'], 'give local or e2b'],
    [['--provider', 'e2b'], 'Give --server URL and --api-key-file FILE'],
    [['--server', 'http://127.0.0.1:1'], 'Give --server URL and --api-key-file FILE'],
  ])('%j: %s', (args, message) => {
    expect(() => readSettings(args, {})).toThrow(message)
  })

  it('a missing language model is named, too', () => {
    expect(() => chooseAnalyst({ LLM_MODEL: 'm' })).toThrow('LLM_API_KEY and LLM_BASE_URL not set')
  })
})
