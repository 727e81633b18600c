// Doors that lead to the same workspace: MCP, git, archives, search. Each keeps the rules of the token that knocks.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' } as const
const accept = 'application/json, text/event-stream'

describe('a token that reads /src', () => {
  let server: TestServer
  let key: string
  const ask = (
    method: string,
    path: string,
    { secret = key, body, headers }: { secret?: string; body?: string; headers?: object } = {},
  ): Promise<Response> =>
    fetch(`${server.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${secret}`, ...headers },
      ...(body === undefined ? {} : { body }),
    })
  const own = (method: string, path: string, body?: string): Promise<Response> =>
    ask(method, `/v1/workspaces${path}`, {
      secret: server.apiKey,
      ...(body === undefined ? {} : { body }),
    })

  beforeAll(async () => {
    server = await startServer()
    for (const name of ['w', 'other']) await own('POST', '', JSON.stringify({ name }))
    await own('PUT', '/w/files/src/a', 'open words')
    await own('PUT', '/w/files/dark/b', 'hidden words')
    await own('PUT', '/other/files/c', 'strange words')
    const allow = [{ path: '/src', operations: ['read', 'list', 'search'] }]
    const issued = await own('POST', '/w/tokens', JSON.stringify({ name: 't', ttlMs: 1e6, allow }))
    key = ((await issued.json()) as { secret: string }).secret
  }, 60_000)
  afterAll(() => server.stop())

  const mcp = async (params: object, query = '', headers: object = {}): Promise<string> => {
    const sent = { 'content-type': 'application/json', accept, ...headers }
    const body = JSON.stringify({ ...call, params })
    return (await ask('POST', `/mcp${query}`, { body, headers: sent })).text()
  }

  it('through MCP and in a search: finds what it may see', async () => {
    const params = { name: 'read', arguments: { file_path: '/src/a' } }
    expect(await mcp(params)).toContain('open words')
    const found = await ask('GET', '/v1/workspaces/w/grep?pattern=words')
    expect(await found.text()).toContain('open words')
  })

  it.each([
    ['the hidden file', { name: 'read', arguments: { file_path: '/dark/b' } }, ''],
    ['the hidden directory', { name: 'ls', arguments: { path: '/dark' } }, ''],
    [
      'a way out of its directory',
      { name: 'read', arguments: { file_path: '/src/../dark/b' } },
      '',
    ],
    ['another workspace', { name: 'read', arguments: { file_path: '/c' } }, '?workspace=other'],
    ['a tool named like a method of objects', { name: 'constructor', arguments: {} }, ''],
    ['a shell on the server', { name: 'bash', arguments: { command: 'id' } }, ''],
    ['a tool named __proto__', { name: '__proto__', arguments: {} }, ''],
  ])('through MCP, %s: refused', async (_title, params, query) => {
    const text = await mcp(params, query)
    expect(text).toMatch(/error|isError/i)
    expect(text).not.toMatch(/hidden words|strange words/)
  })

  it('through MCP, a write: refused, and nothing is changed', async () => {
    await mcp({ name: 'write', arguments: { file_path: '/src/a', content: 'changed' } })
    expect(await (await own('GET', '/w/files/src/a')).text()).toBe('open words')
  })

  it('through MCP, a session id of its own choice: gives nothing that the token does not have', async () => {
    const headers = { 'mcp-session-id': 'another-session' }
    const text = await mcp({ name: 'read', arguments: { file_path: '/dark/b' } }, '', headers)
    expect(text).not.toContain('hidden words')
    expect((await ask('GET', '/mcp', { headers })).status).toBe(405)
    expect((await ask('DELETE', '/mcp', { headers })).status).toBe(405)
  })

  it('through MCP, from a web page: refused before a tool is called', async () => {
    const headers = { origin: 'https://evil.example', 'content-type': 'application/json', accept }
    const answer = await ask('POST', '/mcp', { headers, body: JSON.stringify(call) })
    expect([answer.status, await answer.text()]).toEqual([
      403,
      expect.stringContaining('host_refused'),
    ])
  })

  it('through MCP, a subscription to a file: ends when the token is revoked', async () => {
    const allow = [{ path: '/src', operations: ['read', 'list'] }]
    const issued = await own('POST', '/w/tokens', JSON.stringify({ name: 's', ttlMs: 1e6, allow }))
    const { id, secret } = (await issued.json()) as { id: string; secret: string }
    const listening = Promise.withResolvers<ReadableStream<Uint8Array>>()
    const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp?workspace=w`), {
      requestInit: { headers: { authorization: `Bearer ${secret}` } },
      fetch: async (url, init) => {
        const answer = await fetch(url, init)
        const isListening = JSON.stringify(init?.body ?? '').includes('subscriptions/listen')
        if (!isListening) return answer
        const [mine, theirs] = answer.body!.tee()
        listening.resolve(mine)
        return new Response(theirs, answer)
      },
    })
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    try {
      await client.connect(transport)
      // What is hidden is not watched, and the answer is the same.
      const uris = ['cairn://w/src/a', 'cairn://w/dark/b']
      await client.listen({ resourceSubscriptions: uris })
      const reader = (await listening.promise).pipeThrough(new TextDecoderStream()).getReader()
      await own('PUT', '/w/files/dark/b', 'hidden words')
      await own('PUT', '/w/files/src/a', 'open words')
      let heard = ''
      while (!heard.includes('resources/updated')) heard += (await reader.read()).value ?? ''
      expect(heard).not.toContain('cairn://w/dark/b"}')
      await own('DELETE', `/w/tokens/${id}`)
      const end = async (): Promise<void> => {
        while (!(await reader.read()).done);
      }
      await end().catch(() => {})
    } finally {
      await client.close().catch(() => {})
    }
  })

  it('as a git remote: no push, and no other service', async () => {
    for (const service of ['git-receive-pack', '--upload-pack=id'])
      expect((await ask('GET', `/git/w/info/refs?service=${service}`)).status).toBe(403)
    expect((await ask('POST', '/git/w/git-receive-pack', { body: '0000' })).status).toBe(403)
  })

  it('as a git remote: the commit of an owner is not there for a token that knows its id', async () => {
    const secret = server.apiKey
    const refs = '/git/w/info/refs?service=git-upload-pack'
    const [, id] = /([0-9a-f]{40}) refs\/heads\/main/.exec(
      await (await ask('GET', refs, { secret })).text(),
    )!
    const body = `0032want ${id}\n00000009done\n`
    const fetched = await ask('POST', '/git/w/git-upload-pack', { secret, body })
    expect(await fetched.text()).toContain('PACK')
    const refused = await ask('POST', '/git/w/git-upload-pack', { body })
    expect(await refused.text().catch(() => 'cut off')).not.toContain('PACK')
  })

  it('as a git remote with a name that looks like an option or a path: not found', async () => {
    const secret = server.apiKey
    for (const name of ['--exec=id', '..%2f..%2fetc', '.', 'ext::id', '%2e%2e']) {
      const url = `/git/${name}/info/refs?service=git-upload-pack`
      expect((await ask('GET', url, { secret })).status, name).toBeGreaterThanOrEqual(400)
    }
  })

  it('in a search: no line and no count of what is hidden, also with a cursor that names it', async () => {
    const cursor = Buffer.from('0/dark/b', 'latin1').toString('base64url')
    for (const query of ['', `&cursor=${cursor}`]) {
      const answer = await ask('GET', `/v1/workspaces/w/grep?pattern=words${query}`)
      const text = await answer.text()
      expect(text).not.toMatch(/hidden|dark/)
    }
    expect((await ask('GET', '/v1/workspaces/w/grep?pattern=words&path=/dark')).status).toBe(404)
  })

  it.each(['/v1/workspaces/w/files/dark?archive=tar', '/v1/workspaces/other/files/?archive=tar'])(
    'as an archive of %s: not there',
    async (path) => {
      expect((await ask('GET', path)).status).toBe(404)
    },
  )

  it('names of objects in JSON: refused or plain names, and no object is changed', async () => {
    const secret = server.apiKey
    const bodies = [
      '{"operations":[{"op":"mkdir","path":"/x","__proto__":{"parents":true}}]}',
      '{"operations":[{"op":"constructor","path":"/x"}]}',
      '{"operations":[{"op":"__proto__","path":"/x"}]}',
      '{"__proto__":{"operations":[]}}',
    ]
    for (const body of bodies) {
      const answer = await ask('POST', '/v1/workspaces/w/batch', { secret, body })
      expect(answer.status, body).toBe(400)
    }
    for (const path of ['/constructor/x', '/__proto__', '/v1/workspaces/__proto__/files/a'])
      expect((await ask('POST', path, { secret })).status, path).toBe(404)
    const tags = '{"id":"side","tags":{"__proto__":"x","constructor":"y"}}'
    expect((await own('POST', '/w/layers', tags)).status).toBeLessThan(500)
    expect(({} as { x?: string }).x).toBeUndefined()
  })
})
