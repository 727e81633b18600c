import { generateText, stepCountIs } from 'ai'
import { describe, expect, it } from 'vitest'
import { toolsFor } from '@cairn/agents'
import { cairnTools } from '@cairn/agents/ai-sdk'
import { grantOfToken, parseToken } from '@cairn/protocol'
import { fixWithAiSdk } from '../../examples/agents/ai-sdk.ts'
import { noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'
import { useAgentSite } from './site.ts'

const { server, data } = useAgentSite()

describe('the tools in the AI SDK', () => {
  it('a scripted agent breaks, fixes and commits; the log names its calls', async () => {
    const { url, apiKey } = server()
    const tools = cairnTools({ server: url, apiKey, workspace: 'w', approval: false })
    const layer = 'sdk'
    const model = scriptedModel([
      ['write', { file_path: '/app.js', content: 'let a = 1\n' }],
      ['attempt_create', { name: layer }],
      ['edit', { file_path: '/app.js', old_string: 'let b', new_string: 'const a', layer }],
      ['edit', { file_path: '/app.js', old_string: 'let a', new_string: 'const a', layer }],
      ['attempt_commit', { attempt: layer }],
    ])
    const result = await generateText({ model, tools, prompt: 'fix it', stopWhen: stepCountIs(9) })
    expect(result.text).toBe('done')
    const failed = result.steps[2]!.content.find(({ type }) => type === 'tool-error')
    expect(String((failed as { error: unknown }).error)).toContain('0 matches')
    expect(await server().cairn.workspace('w').files.readText('/app.js')).toBe('const a = 1\n')
    const log = await data<{ entries: { tool_call?: string }[] }>('log', { layer })
    expect(log.entries.map(({ tool_call }) => tool_call)).toContain('call-4')
  })

  it('a token gets the tools that it allows, and those that remove need approval', async () => {
    const { tokens } = server().cairn.workspace('w')
    const allow = [{ path: '/', operations: ['read', 'list', 'delete'] as const }]
    const { secret } = await tokens.issue('reader', { ttlMs: 60_000, allow })
    const tools = cairnTools({ server: server().url, apiKey: secret, workspace: 'w' })
    const shown = toolsFor(grantOfToken(parseToken(secret)!))
    expect(Object.keys(tools)).toEqual(shown.map(({ name }) => name))
    const asks = Object.entries(tools).filter(([, { needsApproval }]) => needsApproval === true)
    expect(asks.map(([name]) => name)).toEqual(['remove'])
  })
})

it.skipIf(noJail)(
  'the example: a scripted agent fixes a test with tools and commands, and the layer is committed',
  async () => {
    const setup = await openLocalSetup()
    const workspace = await setup.makeWorkspace()
    await workspace.files.write('/answer.sh', 'answer=41\n')
    await workspace.files.write('/test.sh', '. ./answer.sh; test "$answer" = 42 && echo passed\n')
    const test = ['bash', { command: 'sh test.sh' }] as const
    const edit = { file_path: '/answer.sh', old_string: '41', new_string: '42' }
    const model = scriptedModel([test, ['edit', edit], test])
    const place = { name: workspace.name, server: setup.server, token: setup.secrets[0]! }
    expect(await fixWithAiSdk(place, model, { directory: setup.directory })).toBe('done')
    expect(JSON.stringify(model.doGenerateCalls.at(-1)!.prompt)).toContain('passed')
    expect(await workspace.files.readText('/answer.sh')).toBe('answer=42\n')
    await setup.close()
  },
)
