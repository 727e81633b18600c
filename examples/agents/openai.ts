/** An agent of the OpenAI Agents SDK works in a jail on a layer, which is committed afterwards. */
import { type Model, Runner } from '@openai/agents'
import { SandboxAgent } from '@openai/agents/sandbox'
import { cairnSandboxClient } from '@cairn/agents/openai'
import { LocalSandbox, type LocalSandboxOptions, type SandboxWorkspace } from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'

export async function fixWithOpenAI(
  workspace: Required<Pick<SandboxWorkspace, 'name' | 'server' | 'token'>>,
  model: Model,
  options: LocalSandboxOptions = {},
): Promise<string> {
  const client = cairnSandboxClient({
    workspace,
    make: (workspace) => new LocalSandbox({ ...options, workspace }),
  })
  const agent = new SandboxAgent({ name: 'Fixer', model, instructions: 'Fix the failing test.' })
  const runner = new Runner({ tracingDisabled: true })
  const sandbox = { client, options: { layer: 'fix-with-openai' } }
  const { finalOutput } = await runner.run(agent, 'sh test.sh fails.', { sandbox })
  const cairn = new Cairn({ server: workspace.server, apiKey: workspace.token })
  await cairn.workspace(workspace.name).layers.commit('fix-with-openai')
  return String(finalOutput)
}
