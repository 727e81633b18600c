/** An agent of Mastra works on the files of a layer, and in a jail that has the same layer mounted. */
import { Agent, type AgentConfig } from '@mastra/core/agent'
import { Workspace } from '@mastra/core/workspace'
import { CairnFilesystem, CairnSandbox } from '@cairn/agents/mastra'
import { LocalSandbox, type LocalSandboxOptions, type SandboxWorkspace } from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'

export async function fixWithMastra(
  place: Required<Pick<SandboxWorkspace, 'name' | 'server' | 'token'>>,
  model: AgentConfig['model'],
  options: LocalSandboxOptions = {},
): Promise<string> {
  const { name, server, token } = place
  const { layers } = new Cairn({ server, apiKey: token }).workspace(name)
  const { id: layer } = await layers.create('/')
  const workspace = new Workspace({
    filesystem: new CairnFilesystem({ server, apiKey: token, workspace: name, layer }),
    sandbox: new CairnSandbox(new LocalSandbox({ ...options, workspace: { ...place, layer } })),
  })
  const instructions = 'Fix the failing test.'
  const agent = new Agent({ id: 'fixer', name: 'Fixer', instructions, model, workspace })
  const { text } = await agent.generate('sh test.sh fails.', { maxSteps: 10 })
  await workspace.destroy()
  await layers.commit(layer)
  return text
}
