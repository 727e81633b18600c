import { accessOperations, type AccessOperation, type IssuedToken } from '@cairn/protocol'
import Fastify, { type FastifyInstance } from 'fastify'
import { beforeAll, describe, expect, it } from 'vitest'
import { Authenticator } from '../access/authenticator.ts'
import { memoryDoor, secret } from '../../test/memory-door.ts'
import { useSql } from '../../test/sql-fixture.ts'
import { requireAccess, type RouteAccess } from './authenticate.ts'

type Method = 'GET' | 'HEAD' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

interface Example {
  readonly payload?: string | object
  /** Instead of a payload: a bundle of the workspace. */
  readonly sendsBundle?: true
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  /** Instead of the one that most are about. */
  readonly workspace?: string
}

/** What makes a request to each route that is right in itself, in a workspace as `prepare` leaves it. */
const examples: Readonly<Record<string, Example>> = {
  'GET /healthz': {},
  'GET /readyz': {},
  'GET /metrics': {},
  'GET /v1/openapi.json': {},
  'POST /v1/workspaces': { payload: { name: 'another' } },
  'GET /v1/workspaces': {},
  'GET /v1/workspaces/{workspace}': {},
  'PATCH /v1/workspaces/{workspace}': { payload: { maxFiles: 100 } },
  'DELETE /v1/workspaces/{workspace}': {},
  'POST /v1/workspaces/{workspace}/restore': { payload: {}, workspace: 'gone' },
  'GET /v1/workspaces/{workspace}/files/{path}': {},
  'HEAD /v1/workspaces/{workspace}/files/{path}': {},
  'PUT /v1/workspaces/{workspace}/files/{path}': { payload: 'new' },
  'PATCH /v1/workspaces/{workspace}/files/{path}': {
    payload: 'N',
    headers: { 'content-range': 'bytes 0-0/*' },
  },
  'POST /v1/workspaces/{workspace}/files/{path}': { query: '?chmod', payload: { mode: '0600' } },
  'DELETE /v1/workspaces/{workspace}/files/{path}': {},
  'POST /v1/workspaces/{workspace}/batch': {
    payload: { operations: [{ op: 'write', path: '/repo/a.txt', text: 'b' }] },
  },
  'GET /v1/workspaces/{workspace}/log': {},
  'GET /v1/workspaces/{workspace}/blame': { query: '?path=/repo/a.txt' },
  'POST /v1/workspaces/{workspace}/undo': { payload: { toolCall: 'none', path: '/repo' } },
  'GET /v1/workspaces/{workspace}/events': {},
  'GET /v1/workspaces/{workspace}/find': {},
  'GET /v1/workspaces/{workspace}/grep': { query: '?pattern=a' },
  'GET /v1/workspaces/{workspace}/search': { query: '?q=a' },
  'GET /v1/workspaces/{workspace}/sql': { query: '?sql=select%20path%20from%20files' },
  'POST /v1/workspaces/{workspace}/uploads': {},
  'PUT /v1/workspaces/{workspace}/uploads/{upload}/blocks/{number}': { payload: 'block' },
  'GET /v1/workspaces/{workspace}/uploads/{upload}': {},
  'POST /v1/workspaces/{workspace}/uploads/{upload}/complete': {
    payload: { path: '/repo/up', size: 0 },
  },
  'DELETE /v1/workspaces/{workspace}/uploads/{upload}': {},
  'POST /v1/workspaces/{workspace}/layers': { payload: { path: '/repo' } },
  'GET /v1/workspaces/{workspace}/layers': {},
  'GET /v1/workspaces/{workspace}/layers/{layer}': {},
  'PATCH /v1/workspaces/{workspace}/layers/{layer}': { payload: { message: 'm' } },
  'DELETE /v1/workspaces/{workspace}/layers/{layer}': {},
  'GET /v1/workspaces/{workspace}/layers/{layer}/chain': {},
  'GET /v1/workspaces/{workspace}/layers/{layer}/checkpoints': {},
  'POST /v1/workspaces/{workspace}/layers/{layer}/checkpoints': { payload: { label: 'two' } },
  'DELETE /v1/workspaces/{workspace}/layers/{layer}/checkpoints/{checkpoint}': {},
  'GET /v1/workspaces/{workspace}/layers/{layer}/diff': {},
  'POST /v1/workspaces/{workspace}/layers/{layer}/abandon': { payload: {} },
  'POST /v1/workspaces/{workspace}/layers/{layer}/reopen': { payload: {} },
  'POST /v1/workspaces/{workspace}/layers/{layer}/rollback': { payload: { to: 'one' } },
  'POST /v1/workspaces/{workspace}/layers/{layer}/undo': { payload: {} },
  'POST /v1/workspaces/{workspace}/layers/{layer}/rebase': { payload: {} },
  'POST /v1/workspaces/{workspace}/layers/{layer}/resolve': {
    payload: { path: '/repo/a.txt', take: 'layer' },
  },
  'POST /v1/workspaces/{workspace}/layers/{layer}/commit': { payload: {} },
  'POST /v1/workspaces/{workspace}/layers/{layer}/pick': { payload: {} },
  'GET /v1/workspaces/{workspace}/bundle': {},
  'POST /v1/workspaces/{workspace}/bundle': { sendsBundle: true },
  'POST /v1/bundles': { sendsBundle: true, query: '?name=imported' },
  'POST /v1/workspaces/{workspace}/fork': { payload: { name: 'forked' } },
  'POST /mcp': {
    payload: { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
    },
  },
  'GET /mcp': {},
  'DELETE /mcp': {},
  'POST /v1/server/gc': {},
  'GET /v1/keys': {},
  'POST /v1/keys': { payload: { name: 'third' } },
  'POST /v1/keys/{key}/rotate': { payload: {} },
  'DELETE /v1/keys/{key}': {},
  'POST /v1/workspaces/{workspace}/tokens': {
    payload: { name: 't', ttlMs: 1000, allow: [{ path: '/', operations: ['read'] }] },
  },
  'GET /v1/workspaces/{workspace}/tokens': {},
  'GET /v1/workspaces/{workspace}/tokens/{token}': {},
  'DELETE /v1/workspaces/{workspace}/tokens/{token}': {},
  'POST /v1/workspaces/{workspace}/tokens/{token}/refresh': { payload: {} },
}

/** Fastify answers HEAD by itself where there is a GET: these have its rule. */
const isImplied = (route: string): boolean => route.startsWith('HEAD ') && !(route in examples)

interface Prepared {
  readonly app: FastifyInstance
  readonly keys: Readonly<Record<string, string>>
  readonly upload: string
}

const everything = [{ path: '/', operations: accessOperations }]
const elsewhere = [{ path: '/elsewhere', operations: accessOperations }]

const sql = useSql()

async function prepare(): Promise<Prepared> {
  const app = memoryDoor({ sql })
  const call = async <T>(method: Method, url: string, payload?: string | object): Promise<T> => {
    const headers = { authorization: `Bearer ${secret}` }
    const answer = await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })
    expect(answer.statusCode, answer.body).toBeLessThan(300)
    return answer.body === '' ? (undefined as T) : answer.json<T>()
  }
  const root = '/v1/workspaces/w'
  for (const name of ['alice', 'bob']) await call('POST', '/v1/keys', { name })
  for (const name of ['w', 'v', 'gone']) await call('POST', '/v1/workspaces', { name })
  await call('DELETE', '/v1/workspaces/gone')
  await call('PUT', `${root}/files/repo/a.txt`, 'a')
  await call('PUT', `${root}/files/elsewhere/b.txt`, 'b')
  await call('POST', `${root}/layers`, { path: '/repo', name: 'try', id: 'try-id' })
  await call('PUT', `${root}/files/repo/a.txt?layer=try`, 'c')
  await call('POST', `${root}/layers/try/checkpoints`, { label: 'one', id: 'one-id' })
  const issue = async (
    name: string,
    allow: readonly { path: string; operations: readonly AccessOperation[] }[],
    workspace = root,
    ttlMs = 60_000,
  ): Promise<string> => {
    const body = { name, ttlMs, allow }
    return (await call<IssuedToken>('POST', `${workspace}/tokens`, body)).secret
  }
  const keys: Record<string, string> = {
    owner: secret,
    full: await issue('full', everything),
    elsewhere: await issue('elsewhere', elsewhere),
    foreign: await issue('foreign', everything, '/v1/workspaces/v'),
    expired: await issue('expired', everything, root, 1),
    revoked: await issue('revoked', everything),
    wrong: 'cairn_this-is-no-key',
  }
  for (const operation of accessOperations)
    if (operation !== 'search')
      keys[`only ${operation}`] = await issue(operation, [{ path: '/', operations: [operation] }])
  const begun = await app.inject({
    method: 'POST',
    url: `${root}/uploads`,
    headers: { authorization: `Bearer ${keys['full']}` },
  })
  const { id: upload } = begun.json<{ id: string }>()
  keys['forged'] = forge(keys['full']!)
  await call('DELETE', `${root}/tokens/revoked`)
  await call('POST', `${root}/tokens`, { name: 'some', ttlMs: 9000, allow: everything })
  return { app, keys, upload }
}

/** Another signature: the tenth character from the end, because not all bits of the last one count. */
function forge(token: string): string {
  const other = token.at(-10) === 'A' ? 'B' : 'A'
  return token.slice(0, -10) + other + token.slice(-9)
}

async function exportBundle(app: FastifyInstance): Promise<Buffer> {
  const headers = { authorization: `Bearer ${secret}` }
  return (await app.inject({ method: 'GET', url: '/v1/workspaces/w/bundle', headers })).rawPayload
}

interface Answer {
  readonly status: number
  readonly code: string | undefined
}

async function ask({ app, keys, upload }: Prepared, route: string, who?: string): Promise<Answer> {
  const [method, template] = route.split(' ') as [Method, string]
  const { headers = {}, query = '', workspace = 'w', ...example } = examples[route]!
  const payload = example.sendsBundle ? await exportBundle(app) : example.payload
  const values: Readonly<Record<string, string>> = {
    workspace,
    path: 'repo/a.txt',
    upload,
    number: '0',
    layer: 'try',
    checkpoint: 'one-id',
    token: 'some',
    key: 'alice',
  }
  const url = template.replace(/\{(\w+)\}/g, (_, name: string) => values[name]!) + query
  const authorization = who === undefined ? {} : { authorization: `Bearer ${keys[who]}` }
  const controller = new AbortController()
  const answer = await app.inject({
    method,
    url,
    headers: { ...headers, ...authorization },
    // A stream of events does not end by itself.
    payloadAsStream: true,
    signal: controller.signal,
    ...(payload === undefined ? {} : { payload }),
  })
  const isJson = String(answer.headers['content-type']).includes('application/json')
  let text = ''
  if (isJson) for await (const piece of answer.stream()) text += String(piece)
  else controller.abort()
  const error = text === '' ? undefined : (JSON.parse(text) as { error?: { code: string } }).error
  return { status: answer.statusCode, code: error?.code }
}

async function rules(): Promise<ReadonlyMap<string, RouteAccess>> {
  const app = memoryDoor({ sql })
  const { paths } = (await app.inject({ method: 'GET', url: '/v1/openapi.json' })).json<{
    paths: Record<string, Record<string, { 'x-access': RouteAccess }>>
  }>()
  return new Map(
    Object.entries(paths).flatMap(([url, methods]) =>
      Object.entries(methods).map(
        ([method, { 'x-access': rule }]) => [`${method.toUpperCase()} ${url}`, rule] as const,
      ),
    ),
  )
}

describe('who may use a route', () => {
  let all: ReadonlyMap<string, RouteAccess>

  beforeAll(async () => {
    all = await rules()
  })

  it('a route that does not say is refused at the start', () => {
    const app = Fastify()
    requireAccess(app, new Authenticator({ findKey: async () => undefined }))
    expect(() => app.get('/v1/new', async () => 'open')).toThrow(/GET \/v1\/new does not say who/)
  })

  it('every route of the server has an example here', () => {
    const routes = [...all.keys()].filter((route) => !isImplied(route))
    expect(routes.sort()).toEqual(Object.keys(examples).sort())
  })

  it.each(Object.keys(examples))('%s', { timeout: 30_000 }, async (route) => {
    const rule = all.get(route)!
    const site = await prepare()
    if (rule === 'open') return expect((await ask(site, route)).status).toBe(200)
    const isHead = route.startsWith('HEAD')
    const code = async (who?: string): Promise<string | number | undefined> => {
      const answer = await ask(site, route, who)
      return isHead || answer.code === undefined ? answer.status : answer.code
    }
    for (const who of [undefined, 'wrong', 'forged'])
      expect(await code(who), who).toBe(isHead ? 401 : 'unauthenticated')
    for (const who of ['expired', 'revoked'])
      expect(await code(who), who).toBe(isHead ? 401 : 'access_ended')
    if (rule === 'owner') {
      for (const who of Object.keys(site.keys).filter((name) => /full|only/.test(name)))
        expect(await code(who), who).toBe('forbidden')
    } else if (rule === 'workspace') {
      const foreign = await ask(site, route, 'foreign')
      if (route.includes('{workspace}')) expect(foreign.code).toBe('workspace_missing')
    } else await expectByPath(site, route, rule, isHead)
    const who = rule === 'owner' ? 'owner' : 'full'
    const full = await ask(rule === 'owner' ? await prepare() : site, route, who)
    expect([401, 403]).not.toContain(full.status)
    expect(
      full.code === undefined ||
        /nothing_to_undo|conflict_missing|workspace_exists/.test(full.code),
    ).toBe(true)
  })
})

/** Rights elsewhere, to something else or in another workspace open nothing here. */
async function expectByPath(
  site: Prepared,
  route: string,
  rule: readonly AccessOperation[],
  isHead: boolean,
): Promise<void> {
  const foreign = await ask(site, route, 'foreign')
  expect(isHead ? foreign.status : foreign.code).toBe(isHead ? 404 : 'workspace_missing')
  for (const operation of accessOperations) {
    if (operation === 'search' || rule.includes(operation)) continue
    const answer = await ask(site, route, `only ${operation}`)
    expect(isHead ? answer.status : answer.code, operation).toBe(isHead ? 403 : 'forbidden')
  }
  const isAboutRepo = /\{path\}|\{layer\}|\{upload\}|batch/.test(route)
  const away = await ask(site, route, 'elsewhere')
  if (isAboutRepo) expect([403, 404], route).toContain(away.status)
}
