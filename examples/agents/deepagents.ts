/** A deep agent works on the files of a layer, and in a jail that has the same layer mounted. */
import { createDeepAgent } from 'deepagents'
import { CairnSandboxBackend, cairnToolCalls } from '@cairn/agents/deepagents'
import { LocalSandbox, type LocalSandboxOptions, type SandboxWorkspace } from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'

type Model = NonNullable<NonNullable<Parameters<typeof createDeepAgent>[0]>['model']>

export async function fixWithDeepAgent(
  place: Required<Pick<SandboxWorkspace, 'name' | 'server' | 'token'>>,
  model: Model,
  options: LocalSandboxOptions = {},
): Promise<string> {
  const { name, server, token } = place
  const { layers } = new Cairn({ server, apiKey: token }).workspace(name)
  const { id: layer } = await layers.create('/')
  const sandbox = new LocalSandbox({ ...options, workspace: { ...place, layer } })
  const access = { server, apiKey: token, workspace: name, layer }
  const backend = new CairnSandboxBackend(sandbox, access)
  const agent = createDeepAgent({ model, backend, middleware: [cairnToolCalls()] })
  const { messages } = await agent.invoke({
    messages: [{ role: 'user', content: 'sh test.sh fails.' }],
  })
  await sandbox.dispose()
  await layers.commit(layer)
  return messages.at(-1)?.text ?? ''
}
