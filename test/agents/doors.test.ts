import { once } from 'node:events'
import { Runner } from '@openai/agents'
import { SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { Agent } from '@mastra/core/agent'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runTool, tools } from '@cairn/agents'
import { sandboxSession } from '@cairn/agents/ai-sdk/sandbox'
import { spawnIn } from '@cairn/agents/claude'
import { CairnSandboxBackend } from '@cairn/agents/deepagents'
import { openHarness } from '@cairn/agents/harness'
import { CairnSandbox } from '@cairn/agents/mastra'
import { sandboxSession as openAISession } from '@cairn/agents/openai'
import { type Sandbox, SandboxFactory } from '@cairn/sandbox'
import { Cairn, type Workspace } from '@cairn/sdk'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'

interface Place {
  readonly name: string
  readonly layer?: string
}

/** One way in for commands: what it ran is at the server when `close` resolves. */
interface Door {
  readonly run: (command: string) => Promise<number>
  readonly close: () => Promise<void>
}

const clone = `
export GIT_AUTHOR_DATE='2026-01-01T00:00:00Z' GIT_COMMITTER_DATE='2026-01-01T00:00:00Z'
export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=agent
export GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=agent@example.org
git init -q -b main /tmp/origin && cd /tmp/origin
echo 'answer=42' > answer.sh; echo '. ./answer.sh; test "$answer" = 42' > test.sh
git add . && git commit -qm first && cd - > /dev/null && git clone -q /tmp/origin site`
const commit = clone.split('\n').slice(1, 4).join('\n')

/** The same task for every door: what comes of it, and the files at the end. */
async function work(open: (place: Place) => Promise<Door>, workspace: Workspace): Promise<unknown> {
  const { name } = workspace
  const { layers } = workspace
  const within = async (layer: string | undefined, ...commands: string[]): Promise<number[]> => {
    const door = await open({ name, ...(layer !== undefined && { layer }) })
    const codes: number[] = []
    for (const command of commands) codes.push(await door.run(command))
    await door.close()
    return codes
  }
  const codes = await within(
    undefined,
    clone,
    'cd site && sed -i s/42/41/ answer.sh && sh test.sh',
    'cd site && sed -i s/41/42/ answer.sh && echo done >> notes && sh test.sh',
    `${commit}\ncd site && git add . && git commit -qm second && git rev-parse HEAD > ../head`,
  )
  const attempts = [await layers.create('/'), await layers.create('/')].map(({ id }) => id)
  for (const [at, id] of attempts.entries()) await within(id, `echo attempt ${at} > site/notes`)
  await layers.commit(attempts[0]!)
  const refused = await layers.commit(attempts[1]!).catch((error: { code: string }) => error.code)
  await layers.checkpoint('main', { toolCall: 'call-1' })
  await within(undefined, 'rm -r site/*.sh; echo lost > site/notes')
  await layers.rollback('main', { beforeToolCall: 'call-1' })
  const files: Record<string, string> = { head: await workspace.files.readText('/head') }
  for await (const { path, kind } of workspace.files.list('/site'))
    if (kind === 'file') files[path] = await workspace.files.readText(path)
  // Git and sed give some of their own files names by chance.
  const changed = new Set<string>()
  for await (const { operations } of workspace.log())
    for (const { path = '' } of operations) if (!/\/\.git|\/sed\w{6}$/.test(path)) changed.add(path)
  return { codes, refused, files, changed: [...changed].sort() }
}

describe.skipIf(noJail !== undefined)(
  `one task through every door (${noJail ?? 'as root'})`,
  () => {
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    const through = (sandbox: Sandbox, run: Door['run']): Door => ({
      run,
      close: () => sandbox.dispose(),
    })
    const doors: Readonly<Record<string, (place: Place) => Promise<Door>>> = {
      'a sandbox of the factory that KODE takes': async (place) => {
        const factory = new SandboxFactory()
        factory.register('local', () => setup.make(place))
        const sandbox = await factory.createAsync({ kind: 'local' })
        return through(sandbox, async (command) => (await sandbox.exec(command)).code)
      },
      'the session of the AI SDK': async (place) => {
        const sandbox = setup.make(place)
        const session = sandboxSession(sandbox)
        return through(sandbox, async (command) => (await session.run({ command })).exitCode)
      },
      'the bash tool of a harness': async ({ name, layer }) => {
        const harness = openHarness({
          config: { provider: 'local', permissionMode: 'bypass' },
          workspace: {
            name,
            server: setup.server,
            token: setup.secrets[0]!,
            ...(layer !== undefined && { layer }),
          },
          local: { directory: setup.directory },
        })
        const run = async (code: string): Promise<number> => (await harness.run({ code })).exitCode
        return { run, close: () => harness.close() }
      },
      'an agent of the OpenAI Agents SDK': async (place) => {
        const sandbox = setup.make(place)
        const session = openAISession(sandbox)
        return through(sandbox, async (cmd) => {
          const call = functionCall('exec_command', { cmd, yield_time_ms: 60_000 }, { callId: 'c' })
          const model = new ScriptedModel([[call], [assistantMessage('done')]])
          const agent = new SandboxAgent({ name: 'Worker', model, instructions: 'Work.' })
          const runner = new Runner({ tracingDisabled: true })
          await runner.run(agent, 'Begin.', { sandbox: { session } })
          const told = JSON.stringify(model.lastCall!.request.input)
          return Number(/The command ended with (\d+)/.exec(told)?.[1])
        })
      },
      'an agent of Mastra': async (place) => {
        const sandbox = setup.make(place)
        const workspace = new MastraWorkspace({ sandbox: new CairnSandbox(sandbox) })
        return through(sandbox, async (command) => {
          const model = scriptedModel([['mastra_workspace_execute_command', { command }]])
          const instructions = 'Work.'
          const options = { id: 'worker', name: 'Worker', instructions, workspace }
          await new Agent({ ...options, model: model as never }).generate('Begin.', { maxSteps: 2 })
          const told = JSON.stringify(model.doGenerateCalls.at(-1)!.prompt)
          return Number(/Exit code: (\d+)/.exec(told)?.[1] ?? 0)
        })
      },
      'the backend of a deep agent': async (place) => {
        const sandbox = setup.make(place)
        const access = { server: setup.server, apiKey: setup.secrets[0]!, workspace: place.name }
        const backend = new CairnSandboxBackend(sandbox, access)
        return through(sandbox, async (command) => (await backend.execute(command)).exitCode)
      },
      'the process of Claude': async (place) => {
        const sandbox = setup.make(place)
        const spawn = spawnIn(sandbox)
        const { signal } = new AbortController()
        return through(sandbox, async (command) => {
          const child = spawn({ command: 'bash', args: ['-c', command], env: {}, signal })
          child.stdin.end()
          child.stdout.resume()
          return (await once(child as never, 'exit'))[0] as number
        })
      },
      'the tool bash, as MCP and the AI SDK have it': async (place) => {
        const shell = setup.make(place)
        const bash = tools.find(({ name }) => name === 'bash')!
        const cairn = new Cairn({ server: setup.server, apiKey: setup.secrets[0]! })
        return through(shell, async (command) => {
          const outcome = await runTool(bash, { command }, { cairn, shell })
          return outcome.isError ? -1 : Number(outcome.data['exit_code'])
        })
      },
    }

    it('ends with the same files, the same refused commit and the same rewind', async () => {
      const outcomes: unknown[] = []
      for (const open of Object.values(doors))
        outcomes.push(await work(open, await setup.makeWorkspace()))
      expect(outcomes[0]).toEqual({
        codes: [0, 1, 0, 0],
        refused: 'layer_conflict',
        files: {
          head: expect.stringMatching(/^[0-9a-f]{40}\n$/),
          '/site/answer.sh': 'answer=42\n',
          '/site/notes': 'attempt 0\n',
          '/site/test.sh': expect.stringContaining('answer'),
        },
        changed: expect.arrayContaining(['/head', '/site/answer.sh', '/site/notes']),
      })
      for (const outcome of outcomes) expect(outcome).toEqual(outcomes[0])
    }, 180_000)
  },
)
