// Routes × kinds of key, on a whole server: with git, MCP, SQL, the vault, journals and clients to install.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'

type Rule = string | readonly string[]
interface Route {
  readonly method: string
  readonly url: string
  readonly rule: Rule
}

/** What a client without a key may ask for. One more has to be thought about here. */
const open = [
  'GET /healthz',
  'GET /install',
  'GET /install/{file}',
  'GET /readyz',
  'GET /v1/openapi.json',
]

let server: TestServer
let routes: readonly Route[]
const keys: Record<string, string | undefined> = { 'no key': undefined, 'a wrong key': 'wrong-key' }

beforeAll(async () => {
  server = await startServer()
  for (const name of ['w', 'other']) await server.cairn.workspaces.create(name)
  await server.cairn.workspace('w').files.write('/src/a', 'a', { parents: true })
  const allow = [{ path: '/src', operations: ['read', 'list', 'search'] as const }]
  const { secret } = await server.cairn.workspace('w').tokens.issue('narrow', { ttlMs: 1e6, allow })
  const other = await server.cairn.workspace('other').tokens.issue('other', {
    ttlMs: 1e6,
    allow: [{ path: '/', operations: ['read', 'list', 'write', 'delete', 'commit', 'admin'] }],
  })
  const gone = await server.cairn.workspace('w').tokens.issue('gone', { ttlMs: 1e6, allow })
  await server.cairn.workspace('w').tokens.revoke(gone.id)
  Object.assign(keys, {
    narrow: secret,
    foreign: other.secret,
    'a revoked token': gone.secret,
    'a token cut short': secret.slice(0, -5),
  })
  const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { 'x-access': Rule }>>
  }
  routes = Object.entries(document.paths).flatMap(([url, methods]) =>
    Object.entries(methods)
      .filter(([method]) => method !== 'head')
      .map(([method, of]) => ({ method: method.toUpperCase(), url, rule: of['x-access'] })),
  )
}, 60_000)
afterAll(() => server.stop())

let asked = 0

/** Each from another address: who guesses from one is soon told to wait. */
async function ask({ method, url }: Route, key: string | undefined): Promise<number> {
  const path = url
    .replace('{workspace}', 'w')
    .replace('{path}', 'src/a')
    .replaceAll(/\{(\w+)\}/g, '$1')
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` }
  const localAddress = `127.1.${++asked >> 8}.${asked & 255}`
  const asking = request(server.url + path, { method, headers, localAddress }).end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  answer.destroy()
  return answer.statusCode!
}

it('all doors are there', () => {
  const urls = new Set(routes.map(({ url }) => url))
  for (const url of [
    '/git/{workspace}/info/refs',
    '/git/{workspace}/git-upload-pack',
    '/git/{workspace}/git-receive-pack',
    '/mcp',
    '/install/{file}',
    '/v1/bundles',
    '/v1/server/status',
    '/v1/workspaces/{workspace}/sql',
    '/v1/workspaces/{workspace}/find',
    '/v1/workspaces/{workspace}/vault/secrets',
    '/v1/workspaces/{workspace}/journals',
  ])
    expect(urls).toContain(url)
})

it('those that are open are these, and each of the others says who may use it', () => {
  const opened = routes.filter(({ rule }) => rule === 'open')
  expect(opened.map(({ method, url }) => `${method} ${url}`).toSorted()).toEqual(open)
  for (const { method, url, rule } of routes) expect(rule, `${method} ${url}`).toBeTruthy()
})

it('no other route answers without a key that is good now', async () => {
  for (const route of routes.filter(({ rule }) => rule !== 'open'))
    for (const who of ['no key', 'a wrong key', 'a revoked token', 'a token cut short'])
      expect(await ask(route, keys[who]), `${route.method} ${route.url} with ${who}`).toBe(401)
})

it('no token uses those of owners, and none of another workspace gets to one', async () => {
  for (const route of routes) {
    const title = `${route.method} ${route.url}`
    if (route.rule === 'owner')
      for (const who of ['narrow', 'foreign'])
        expect(await ask(route, keys[who]), `${title} with ${who}`).toBe(403)
    else if (route.rule !== 'open' && route.url.includes('{workspace}'))
      // 400 where the request itself has to be read first: this one has no body.
      expect([400, 403, 404, 415], title).toContain(await ask(route, keys['foreign']))
  }
})
