import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { Agent } from '@mastra/core/agent'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { Runner } from '@openai/agents'
import { SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { generateText, stepCountIs, tool } from 'ai'
import { createDeepAgent } from 'deepagents'
import { z } from 'zod'
import {
  cairnToolCalls as aiSdkCalls,
  sandboxSession as aiSdkSession,
} from '@cairn/agents/ai-sdk/sandbox'
import { cairnHooks, spawnIn } from '@cairn/agents/claude'
import { CairnSandboxBackend, cairnToolCalls as deepAgentCalls } from '@cairn/agents/deepagents'
import { openHarness } from '@cairn/agents/harness'
import { CairnSandbox, cairnToolCalls as mastraCalls } from '@cairn/agents/mastra'
import {
  cairnToolCalls as openAICalls,
  sandboxSession as openAISession,
} from '@cairn/agents/openai'
import { type KindRegister, registerSandboxes, type Sandbox } from '@cairn/sandbox'
import type { CairnCommand } from '../e2e/run-cairn.ts'
import type { LocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'

export interface Place {
  readonly name: string
  readonly layer?: string
}

/** One way in for commands: what it ran is at the server when `close` resolves. */
export interface Door {
  /** Gives the exit code. The framework calls it by this id, where it has any. */
  readonly run: (command: string, id: string) => Promise<number>
  readonly close: () => Promise<void>
}

interface Doors {
  /** The log names each call. */
  readonly named: Readonly<Record<string, (place: Place) => Promise<Door>>>
  /** The framework gives commands no id. */
  readonly unnamed: Readonly<Record<string, (place: Place) => Promise<Door>>>
}

const prompt = 'Begin.'

export function openDoors(setup: LocalSetup, cairn: CairnCommand): Doors {
  const { server, directory } = setup
  const apiKey = setup.secrets[0]!
  const env = { CAIRN_SERVER: server, CAIRN_API_KEY: apiKey }
  const inSandbox = (place: Place, runIn: (sandbox: Sandbox) => Door['run']): Door => {
    const sandbox = setup.make(place)
    return { run: runIn(sandbox), close: () => sandbox.dispose() }
  }
  const named: Doors['named'] = {
    MCP: (place) => overMcp(place, env),
    'a tool of the AI SDK': async (place) => inSandbox(place, throughAiSdk),
    'the bash tool of a harness': async ({ name, layer }) => {
      const workspace = { name, server, token: apiKey, ...(layer !== undefined && { layer }) }
      const harness = openHarness({
        config: { provider: 'local', permissionMode: 'bypass' },
        workspace,
        local: { directory },
      })
      const bash = harness.tools().find((one) => one.name === 'bash')!
      const run: Door['run'] = async (command, toolCall) =>
        codeIn((await bash.run({ command }, { toolCall })).text, /\[It ended with (\d+)\.\]/)
      return { run, close: () => harness.close() }
    },
    'hooks of Claude on a mount': (place) => inMount(place, cairn, env),
    'an agent of the OpenAI Agents SDK': async (place) => inSandbox(place, throughOpenAI),
    'an agent of Mastra': async (place) => inSandbox(place, throughMastra),
    'a deep agent': async (place) =>
      inSandbox(place, (sandbox) => {
        const access = { server, apiKey, workspace: place.name }
        return throughDeepAgent(new CairnSandboxBackend(sandbox, access))
      }),
  }
  const unnamed: Doors['unnamed'] = {
    'a factory as KODE has it': async ({ name, layer }) => {
      const factory = new KodeFactory()
      registerSandboxes(factory)
      const workspace = { name, layer, server, token: apiKey }
      const sandbox = factory.create({ kind: 'local', directory, workspace })
      const run: Door['run'] = async (cmd) => (await sandbox.exec(cmd, { timeoutMs: 60_000 })).code
      return { run, close: async () => sandbox.dispose?.() }
    },
    'the process of Claude': async (place) =>
      inSandbox(place, (sandbox) => async (command) => {
        const { signal } = new AbortController()
        const options = { command: 'bash', args: ['-c', command], env: {}, signal }
        const child = spawnIn(sandbox)(options)
        child.stdin.end()
        child.stdout.resume()
        return (await once(child as never, 'exit'))[0] as number
      }),
  }
  return { named, unnamed }
}

/** What KODE's agents make of `config.sandbox`. */
interface KodeSandbox {
  exec(
    cmd: string,
    opts?: { readonly timeoutMs?: number },
  ): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }>
  dispose?(): Promise<void> | void
}

/** The interface of KODE's class of that name. */
class KodeFactory implements KindRegister {
  readonly #makes = new Map<string, (config: Record<string, unknown>) => KodeSandbox>()

  register(kind: string, make: (config: Record<string, unknown>) => KodeSandbox): void {
    this.#makes.set(kind, make)
  }

  create(config: { readonly kind: string; readonly [option: string]: unknown }): KodeSandbox {
    return this.#makes.get(config.kind)!(config)
  }
}

async function overMcp({ name, layer }: Place, env: Record<string, string>): Promise<Door> {
  const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
  const words = ['mcp', '-w', name, ...(layer ? ['--layer', layer] : []), '--sandbox', 'local']
  const { PATH, NODE_COMPILE_CACHE } = process.env
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ['--conditions=source', main, ...words],
      env: { ...env, HOME: '/nonexistent', PATH: PATH!, NODE_COMPILE_CACHE: NODE_COMPILE_CACHE! },
    }),
  )
  const run: Door['run'] = async (command, id) => {
    const _meta = { 'cairn/tool-call': id }
    const done = await client.callTool({ name: 'bash', arguments: { command }, _meta })
    return (done.structuredContent as { exit_code: number }).exit_code
  }
  return { run, close: () => client.close() }
}

/** As Claude Code does it: the hooks before and after each call of its tool Bash. */
async function inMount(
  { name, layer }: Place,
  cairn: CairnCommand,
  env: Record<string, string>,
): Promise<Door> {
  const cwd = await mkdtemp(join(cairn.home(), 'mounted-'))
  const at = layer === undefined ? [] : ['--layer', layer]
  await expectSuccess(cairn.run(['mount', '-w', name, ...at, ':/', cwd], { env }))
  const command = ['env', `HOME=${cairn.home()}`, ...cairn.words()]
  const access = { server: env['CAIRN_SERVER']!, apiKey: env['CAIRN_API_KEY']!, command }
  const { PreToolUse, PostToolUse } = cairnHooks(access).hooks
  const call = async (hook_event_name: string, id: string): Promise<void> => {
    const hooks = hook_event_name === 'PreToolUse' ? PreToolUse : PostToolUse
    const event = { hook_event_name, cwd, tool_name: 'Bash', tool_use_id: id, tool_input: {} }
    const answer = await hooks[0]!.hooks[0]!(event)
    if (Object.keys(answer).length > 0) throw new Error(JSON.stringify(answer))
  }
  const run: Door['run'] = async (line, id) => {
    await call('PreToolUse', id)
    const code = await new Promise<number>((resolve) => {
      execFile('bash', ['-c', line], { cwd }, (error) => resolve(Number(error?.code ?? 0)))
    })
    await call('PostToolUse', id)
    return code
  }
  const close = async (): Promise<void> => {
    await expectSuccess(cairn.run(['umount', cwd], { env }))
    await rm(cwd, { recursive: true })
  }
  return { run, close }
}

async function expectSuccess(ran: ReturnType<CairnCommand['run']>): Promise<void> {
  const { code, stderr } = await ran
  if (code !== 0) throw new Error(stderr)
}

function throughAiSdk(sandbox: Sandbox): Door['run'] {
  const telemetry = { integrations: aiSdkCalls() }
  const experimental_sandbox = aiSdkSession(sandbox)
  return async (command, id) => {
    let code = -1
    const shell = tool({
      inputSchema: z.object({ command: z.string() }),
      execute: async (input, options) => {
        code = (await options.experimental_sandbox!.run(input)).exitCode
        return String(code)
      },
    })
    const model = scriptedModel([['shell', { command }, id]])
    const stopWhen = stepCountIs(2)
    await generateText({
      model,
      tools: { shell },
      prompt,
      stopWhen,
      telemetry,
      experimental_sandbox,
    })
    return code
  }
}

function throughOpenAI(sandbox: Sandbox): Door['run'] {
  const session = openAISession(sandbox)
  return async (cmd, callId) => {
    const call = functionCall('exec_command', { cmd, yield_time_ms: 60_000 }, { callId })
    const model = new ScriptedModel([[call], [assistantMessage('done')]])
    const agent = new SandboxAgent({ name: 'Worker', model, instructions: 'Work.' })
    const runner = new Runner({ tracingDisabled: true })
    openAICalls(runner)
    await runner.run(agent, prompt, { sandbox: { session } })
    return codeIn(JSON.stringify(model.lastCall!.request.input), /The command ended with (\d+)/)
  }
}

function throughMastra(sandbox: Sandbox): Door['run'] {
  const tools = { hooks: mastraCalls() }
  const workspace = new MastraWorkspace({ sandbox: new CairnSandbox(sandbox), tools })
  return async (command, id) => {
    const model = scriptedModel([['mastra_workspace_execute_command', { command }, id]])
    const options = { id: 'worker', name: 'Worker', instructions: 'Work.', workspace }
    await new Agent({ ...options, model: model as never }).generate(prompt, { maxSteps: 2 })
    return codeIn(JSON.stringify(model.doGenerateCalls.at(-1)!.prompt), /Exit code: (\d+)/)
  }
}

function throughDeepAgent(backend: CairnSandboxBackend): Door['run'] {
  return async (command, id) => {
    const model = fakeModel()
      .respondWithTools([{ name: 'execute', args: { command }, id }])
      .respond(new AIMessage('done'))
    const agent = createDeepAgent({ model, backend, middleware: [deepAgentCalls()] })
    const { messages } = await agent.invoke({ messages: [{ role: 'user', content: prompt }] })
    return codeIn(JSON.stringify(messages), /with exit code (\d+)/)
  }
}

/** Some tell the model of a code only when it is not 0. */
function codeIn(told: string, pattern: RegExp): number {
  return Number(pattern.exec(told)?.[1] ?? 0)
}
