import {
  Client,
  type ClientCapabilities,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { toolsFor } from '@cairn/agents'
import { grantOfToken, parseToken } from '@cairn/protocol'
import { noJail } from '../sandbox/local-setup.ts'
import { useAgentSite } from './site.ts'

const { server, data } = useAgentSite()

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

const eras = [
  { era: 'legacy', version: '2025-11-25' },
  { era: 'modern', version: '2026-07-28' },
] as const
const ways = eras.flatMap((one) => [
  { ...one, way: '/mcp' },
  { ...one, way: 'cairn mcp' },
])

interface OpenOptions {
  readonly apiKey?: string
  readonly capabilities?: ClientCapabilities
  readonly layer?: string
  readonly words?: readonly string[]
}

async function open(
  { era, way }: Pick<(typeof ways)[number], 'era' | 'way'>,
  { apiKey = server().apiKey, capabilities = {}, layer, words = [] }: OpenOptions = {},
): Promise<Client> {
  const mode = era === 'modern' ? ({ pin: '2026-07-28' } as const) : 'legacy'
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities, versionNegotiation: { mode } },
  )
  clients.push(client)
  await client.connect(way === '/mcp' ? overHttp(apiKey, layer) : asProcess(apiKey, layer, words))
  return client
}

function overHttp(apiKey: string, layer: string | undefined): StreamableHTTPClientTransport {
  const url = new URL(`${server().url}/mcp?workspace=w${layer ? `&layer=${layer}` : ''}`)
  const headers = { authorization: `Bearer ${apiKey}` }
  return new StreamableHTTPClientTransport(url, { requestInit: { headers } })
}

function asProcess(
  apiKey: string,
  layer: string | undefined,
  words: readonly string[],
): StdioClientTransport {
  const main = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
  return new StdioClientTransport({
    command: process.execPath,
    args: [
      '--conditions=source',
      main,
      'mcp',
      '-w',
      'w',
      ...(layer ? ['--layer', layer] : []),
      ...words,
    ],
    env: {
      HOME: '/nonexistent',
      PATH: process.env['PATH']!,
      CAIRN_SERVER: server().url,
      CAIRN_API_KEY: apiKey,
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE']!,
    },
  })
}

const textOf = (result: object): string =>
  (result as { content: { text: string }[] }).content.map(({ text }) => text).join('')

describe.each(ways)('$way with a client of $version', ({ era, version, way }) => {
  it('lists the tools of the registry and runs them; the log names the call', async () => {
    const client = await open({ era, way })
    expect(client.getNegotiatedProtocolVersion()).toBe(version)
    const listed = (await client.listTools()).tools
    expect(listed.map(({ name }) => name)).toEqual(toolsFor(undefined).map(({ name }) => name))
    const write = { name: 'write', arguments: { file_path: `/${era}/a`, content: 'one\n' } }
    await client.callTool({ ...write, _meta: { 'claudecode/toolUseId': `toolu-${era}` } })
    const read = await client.callTool({ name: 'read', arguments: { file_path: `/${era}/a` } })
    expect(textOf(read)).toBe('     1\tone')
    expect(read.structuredContent).toMatchObject({ path: `/${era}/a`, lines: 1 })
    const log = await data<{ entries: { tool_call: string }[] }>('log', { path: `/${era}/a` })
    expect(log.entries[0]!.tool_call).toBe(`toolu-${era}`)
    const missing = await client.callTool({ name: 'read', arguments: { file_path: '/missing' } })
    expect([missing.isError, textOf(missing)]).toEqual([
      true,
      expect.stringContaining('ls or glob'),
    ])
  })
})

describe.each(eras)('/mcp with a client of $version', ({ era }) => {
  const way = '/mcp'

  it('a token sees the tools that it may use somewhere, and calls no other', async () => {
    const { tokens } = server().cairn.workspace('w')
    const allow = [{ path: '/', operations: ['read', 'list'] as const }]
    const { secret } = await tokens.issue(`reader-${era}`, { ttlMs: 60_000, allow })
    const client = await open({ era, way }, { apiKey: secret })
    const names = (await client.listTools()).tools.map(({ name }) => name)
    const grant = grantOfToken(parseToken(secret)!)
    expect(names).toEqual(toolsFor(grant).map(({ name }) => name))
    const call = { name: 'write', arguments: { file_path: '/x', content: '' } }
    await expect(client.callTool(call)).rejects.toThrow('no such tool')
  })

  it('all calls work in the layer that the command names', async () => {
    await data('attempt_create', { name: `in-${era}` })
    const client = await open({ era, way }, { layer: `in-${era}` })
    await client.callTool({ name: 'write', arguments: { file_path: '/in-layer', content: era } })
    const { layers } = server().cairn.workspace('w')
    expect((await layers.diff(`in-${era}`)).map(({ path }) => path)).toEqual(['/in-layer'])
  })
})

it.skipIf(noJail)(
  'cairn mcp --sandbox local runs commands on the workspace, and ends its sandbox',
  async () => {
    const way = { era: 'modern', way: 'cairn mcp' } as const
    const client = await open(way, { words: ['--sandbox', 'local'] })
    await data('write', { file_path: '/shell/in', content: 'from a tool\n' })
    const command = 'cat shell/in; echo from the shell > shell/out; exit 3'
    const done = await client.callTool({ name: 'bash', arguments: { command } })
    expect(done.structuredContent).toMatchObject({ exit_code: 3, stdout: 'from a tool\n' })
    const read = await client.callTool({ name: 'read', arguments: { file_path: '/shell/out' } })
    expect(textOf(read)).toBe('     1\tfrom the shell')
  },
)

// Without a connection there is no way to ask, nor to tell of a change: clients of 2025 get neither over HTTP.
const asking = ways.filter(({ era, way }) => era === 'modern' || way === 'cairn mcp')

describe.each(asking)('$way with a client of $version that can ask', ({ era, way }) => {
  it('a tool that removes asks the user; a refusal changes nothing', async () => {
    await data('write', { file_path: '/asked', content: '' })
    const capabilities = { elicitation: { form: {} } }
    const client = await open({ era, way }, { capabilities })
    const asked: string[] = []
    let confirm = false
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params.message)
      return { action: 'accept', content: { confirm } }
    })
    const call = { name: 'remove', arguments: { path: '/asked' } }
    const refused = await client.callTool(call)
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining('declined')])
    expect(asked[0]).toContain('/asked')
    confirm = true
    expect(textOf(await client.callTool(call))).toBe('Removed /asked.')
  })

  it('a file is a resource: listed, read at a checkpoint, and a subscriber hears of its change', async () => {
    const path = `/${era}/resource é`
    const uri = `cairn://w/${era}/resource%20%C3%A9`
    await data('write', { file_path: path, content: 'old' })
    const label = `before-${era}${way === '/mcp' ? '-http' : ''}`
    await data('checkpoint', { label })
    const client = await open({ era, way })
    expect((await client.listResources()).resources.map(({ uri }) => uri)).toContain(uri)
    const { promise: heard, resolve } = Promise.withResolvers<string>()
    client.setNotificationHandler('notifications/resources/updated', ({ params }) =>
      resolve(params.uri),
    )
    if (era === 'modern') await client.listen({ resourceSubscriptions: [uri] })
    else await client.subscribeResource({ uri })
    await data('write', { file_path: path, content: 'new' })
    expect(await heard).toBe(uri)
    const now = await client.readResource({ uri })
    const then = await client.readResource({ uri: `${uri}?at=${label}` })
    expect([now.contents[0], then.contents[0]]).toMatchObject([{ text: 'new' }, { text: 'old' }])
  })
})
