import { Agent } from '@mastra/core/agent'
import { Workspace as MastraWorkspace } from '@mastra/core/workspace'
import { Runner } from '@openai/agents'
import { SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import { generateText, stepCountIs, tool } from 'ai'
import { createDeepAgent } from 'deepagents'
import { Bash } from 'just-bash'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { withToolCall } from '@cairn/agents'
import { cairnTools } from '@cairn/agents/ai-sdk'
import {
  cairnToolCalls as aiSdkCalls,
  sandboxSession as aiSdkSession,
} from '@cairn/agents/ai-sdk/sandbox'
import { CairnSandboxBackend, cairnToolCalls as deepAgentCalls } from '@cairn/agents/deepagents'
import { cairnFileSystem } from '@cairn/agents/just-bash'
import { CairnFilesystem, CairnSandbox, cairnToolCalls as mastraCalls } from '@cairn/agents/mastra'
import {
  cairnToolCalls as openAICalls,
  sandboxSession as openAISession,
} from '@cairn/agents/openai'
import type { Workspace } from '@cairn/sdk'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'

const [one, two, three] = ['call-1', 'call-2', 'call-3'] as const
/** Each call makes a file that has its name. */
const made = (id: string): string => `by-${id}`
const command = (id: string): string => `echo ${id} > ${made(id)}`
const content = 'written\n'

describe.skipIf(noJail !== undefined)(`ids of tool calls (${noJail ?? 'as root'})`, () => {
  let setup: LocalSetup
  beforeAll(async () => {
    setup = await openLocalSetup()
  })
  afterAll(() => setup.close())
  const accessTo = ({ name: workspace }: Workspace) => ({
    server: setup.server,
    apiKey: setup.secrets[0]!,
    workspace,
  })

  /** What an agent of each framework does: it makes these calls. */
  const agents: Readonly<Record<string, (workspace: Workspace) => Promise<readonly string[]>>> = {
    'the tools of the AI SDK': async (workspace) => {
      const tools = cairnTools({ ...accessTo(workspace), approval: false })
      const model = scriptedModel([['write', { file_path: made(one), content }]])
      await generateText({ model, tools, prompt: 'Begin.', stopWhen: stepCountIs(2) })
      return [one]
    },
    'tools of the AI SDK in a sandbox': async (workspace) => {
      const sandbox = setup.make({ name: workspace.name })
      const tools = {
        run: tool({
          inputSchema: z.object({ command: z.string() }),
          execute: (input, { experimental_sandbox }) => experimental_sandbox!.run(input),
        }),
        save: tool({
          inputSchema: z.object({ path: z.string(), content: z.string() }),
          execute: (input, { experimental_sandbox }) => experimental_sandbox!.writeTextFile(input),
        }),
      }
      const model = scriptedModel([
        ['run', { command: command(one) }],
        ['save', { path: made(two), content }],
      ])
      await generateText({
        model,
        tools,
        prompt: 'Begin.',
        stopWhen: stepCountIs(3),
        telemetry: { integrations: aiSdkCalls() },
        experimental_sandbox: aiSdkSession(sandbox),
      })
      await sandbox.dispose()
      return [one, two]
    },
    'commands and patches of the OpenAI Agents SDK, at once': async (workspace) => {
      const sandbox = setup.make({ name: workspace.name })
      const run = (id: string) =>
        functionCall('exec_command', { cmd: command(id), yield_time_ms: 60_000 }, { callId: id })
      const patch = {
        type: 'apply_patch_call' as const,
        callId: three,
        status: 'completed' as const,
        operation: { type: 'create_file' as const, path: made(three), diff: '+written' },
      }
      const model = new ScriptedModel([[run(one), run(two), patch], [assistantMessage('done')]])
      const agent = new SandboxAgent({ name: 'Worker', model, instructions: 'Work.' })
      openAICalls(agent)
      const session = openAISession(sandbox)
      await new Runner({ tracingDisabled: true }).run(agent, 'Begin.', { sandbox: { session } })
      await sandbox.dispose()
      return [one, two, three]
    },
    'files and commands of Mastra': async (workspace) => {
      const sandbox = setup.make({ name: workspace.name })
      const files = new MastraWorkspace({
        filesystem: new CairnFilesystem(accessTo(workspace)),
        sandbox: new CairnSandbox(sandbox),
        tools: { hooks: mastraCalls() },
      })
      const model = scriptedModel([
        ['mastra_workspace_write_file', { path: `/${made(one)}`, content }],
        ['mastra_workspace_execute_command', { command: command(two) }],
      ])
      const options = { id: 'worker', name: 'Worker', instructions: 'Work.', workspace: files }
      await new Agent({ ...options, model: model as never }).generate('Begin.', { maxSteps: 3 })
      await sandbox.dispose()
      return [one, two]
    },
    'files and commands of a deep agent, at once': async (workspace) => {
      const sandbox = setup.make({ name: workspace.name })
      const model = fakeModel()
        .respondWithTools([
          { name: 'write_file', args: { file_path: `/${made(one)}`, content }, id: one },
          { name: 'execute', args: { command: command(two) }, id: two },
        ])
        .respond(new AIMessage('done'))
      const agent = createDeepAgent({
        model,
        backend: new CairnSandboxBackend(sandbox, accessTo(workspace)),
        middleware: [deepAgentCalls()],
      })
      await agent.invoke({ messages: [{ role: 'user', content: 'Begin.' }] })
      await sandbox.dispose()
      return [one, two]
    },
    'a shell in this process': async (workspace) => {
      const bash = new Bash({ fs: cairnFileSystem(accessTo(workspace)), cwd: '/' })
      await Promise.all([one, two].map((id) => withToolCall(id, () => bash.exec(command(id)))))
      return [one, two]
    },
  }

  it.each(Object.entries(agents))('%s: log, blame and undo go by the call', async (_, act) => {
    const workspace = await setup.makeWorkspace()
    const ids = await act(workspace)
    expect(await callsByPath(workspace)).toEqual(
      Object.fromEntries(ids.map((id) => [`/${made(id)}`, [id]])),
    )
    for (const id of ids) {
      const { origins } = await workspace.blame(`/${made(id)}`)
      expect(origins.map(({ toolCall }) => toolCall)).toEqual([id])
      await workspace.undo({ toolCall: id })
      expect(await workspace.files.exists(`/${made(id)}`)).toBe(false)
    }
  })
})

/** The calls that changed each path. */
async function callsByPath(workspace: Workspace): Promise<Record<string, (string | undefined)[]>> {
  const calls = new Map<string, Set<string | undefined>>()
  for await (const { toolCall, operations } of workspace.log())
    for (const { path } of operations)
      if (path !== undefined) calls.set(path, (calls.get(path) ?? new Set()).add(toolCall))
  return Object.fromEntries([...calls].map(([path, ids]) => [path, [...ids]]))
}
