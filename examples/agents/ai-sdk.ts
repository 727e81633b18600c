/** An agent of the AI SDK has Cairn's tools on a layer, and a jail that has the same layer mounted. */
import { generateText, type LanguageModel, stepCountIs } from 'ai'
import { cairnTools } from '@cairn/agents/ai-sdk'
import { LocalSandbox, type LocalSandboxOptions, type SandboxWorkspace } from '@cairn/sandbox'
import { Cairn } from '@cairn/sdk'

export async function fixWithAiSdk(
  place: Required<Pick<SandboxWorkspace, 'name' | 'server' | 'token'>>,
  model: LanguageModel,
  options: LocalSandboxOptions = {},
): Promise<string> {
  const { name, server, token } = place
  const { layers } = new Cairn({ server, apiKey: token }).workspace(name)
  const { id: layer } = await layers.create('/')
  const shell = new LocalSandbox({ ...options, workspace: { ...place, layer } })
  const access = { server, apiKey: token, workspace: name, layer }
  const tools = cairnTools({ ...access, shell, approval: false })
  const prompt = 'sh test.sh fails.'
  const { text } = await generateText({ model, tools, prompt, stopWhen: stepCountIs(10) })
  await shell.dispose()
  await layers.commit(layer)
  return text
}
