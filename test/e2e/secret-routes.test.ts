import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Cairn } from '@cairn/sdk'
import { serve, type Serving } from '@cairn/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

type Rule = string | readonly string[]
type Paths = Readonly<Record<string, Readonly<Record<string, { readonly 'x-access': Rule }>>>>

/** The routes that stand on a database only; all others are asked in packages/server/src/http/access.test.ts. */
const isSecret = (url: string): boolean => /vault|journal|rotate/.test(url)

describe('routes of secrets and evidence', () => {
  let data: string
  let server: Serving
  let token: string
  let foreign: string
  let routes: (readonly [method: string, url: string, rule: Rule])[]

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'cairn-secret-'))
    server = await serve({ data, listen: '127.0.0.1:0' })
    const cairn = new Cairn({ server: server.url, apiKey: server.ownerKey! })
    for (const name of ['w', 'other']) await cairn.workspaces.create(name)
    const everything = {
      ttlMs: 60_000,
      allow: [{ path: '/', operations: ['read', 'list', 'write', 'delete', 'commit', 'admin'] }],
    } as const
    token = (await cairn.workspace('w').tokens.issue('all', everything)).secret
    foreign = (await cairn.workspace('other').tokens.issue('all', everything)).secret
    await cairn.workspace('w').journals.create('run-1')
    const document = (await (await fetch(`${server.url}/v1/openapi.json`)).json()) as {
      paths: Paths
    }
    routes = Object.entries(document.paths)
      .filter(([url]) => isSecret(url))
      .flatMap(([url, methods]) =>
        Object.entries(methods).map(([method, of]) => [method, url, of['x-access']] as const),
      )
      // Implied by GET, and without a body that could say why.
      .filter(([method]) => method !== 'head')
  })
  afterAll(async () => {
    await server.close()
    await rm(data, { recursive: true })
  })

  async function code(method: string, url: string, secret?: string): Promise<string> {
    const path = url.replace('{workspace}', 'w').replace('{journal}', 'run-1')
    const response = await fetch(`${server.url}${path.replaceAll(/[{}]/g, '')}`, {
      method: method.toUpperCase(),
      ...(secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } }),
    })
    return ((await response.json()) as { error: { code: string } }).error.code
  }

  it('refuse requests without a key, and tokens except for entries of a journal', async () => {
    expect(routes.length).toBeGreaterThan(15)
    for (const [method, url, rule] of routes) {
      expect(await code(method, url), url).toBe('unauthenticated')
      if (rule === 'owner') expect(await code(method, url, token), url).toBe('forbidden')
    }
    const open = routes
      .filter(([, , rule]) => rule !== 'owner')
      .map(([method, url]) => method + url)
    expect(open).toEqual(['post/v1/workspaces/{workspace}/journals/{journal}/entries'])
  })

  it('a token appends to a journal of its workspace, and to no other', async () => {
    const append = async (secret: string): Promise<Response> =>
      fetch(`${server.url}/v1/workspaces/w/journals/run-1/entries`, {
        method: 'POST',
        headers: { authorization: `Bearer ${secret}`, 'idempotency-key': 'one' },
        body: JSON.stringify({ entries: [{ type: 'note', summary: 'done' }] }),
      })
    expect((await append(token)).status).toBe(201)
    expect((await append(foreign)).status).toBe(404)
  })
})
