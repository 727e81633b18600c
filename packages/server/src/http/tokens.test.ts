import { type AccessOperation, accessOperations, type IssuedToken } from '@cairn/protocol'
import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'

type Method = 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE'

interface Answer {
  readonly status: number
  readonly body: string
  readonly code: string | undefined
}

const root = '/v1/workspaces/w'

describe('a token over HTTP', () => {
  let app: FastifyInstance

  const call = async (
    key: string,
    method: Method,
    url: string,
    payload?: string | object,
  ): Promise<Answer> => {
    const answer = await app.inject({
      method,
      url: `${root}${url}`,
      headers: { authorization: `Bearer ${key}` },
      ...(payload === undefined ? {} : { payload }),
    })
    const { statusCode: status, body } = answer
    const code = status < 400 ? undefined : answer.json<{ error: { code: string } }>().error.code
    return { status, body, code }
  }
  const owner = async (method: Method, url: string, payload?: string | object): Promise<string> => {
    const { status, body } = await call(secret, method, url, payload)
    expect(status, body).toBeLessThan(300)
    return body
  }
  const issue = async (
    allow: readonly (readonly [path: string, ...operations: AccessOperation[]])[],
    more: object = {},
  ): Promise<string> => {
    const rules = allow.map(([path, ...operations]) => ({ path, operations }))
    const body = { name: 't', ttlMs: 60_000, allow: rules, ...more }
    return (JSON.parse(await owner('POST', '/tokens', body)) as IssuedToken).secret
  }

  beforeEach(async () => {
    app = memoryDoor()
    await owner('POST', '/../../workspaces', { name: 'w' })
    for (const path of ['/repo/src/a.ts', '/repo/tests/t.ts', '/repo/keys/k', '/other/o'])
      await owner('PUT', `/files${path}`, `in ${path}`)
  })

  it('no token renames, deletes, restores or lists deleted workspaces; a rename leaves it as it is', async () => {
    const token = await issue([['/', ...accessOperations]])
    const refusals = [
      await call(token, 'PATCH', '', { name: 'mine' }),
      await call(token, 'DELETE', ''),
      await call(token, 'POST', '/restore', {}),
      await call(token, 'GET', '/../../workspaces?deleted'),
    ]
    expect(refusals.map(({ status, code }) => [status, code])).toEqual(
      refusals.map(() => [403, 'forbidden']),
    )
    await owner('PATCH', '', { name: 'shop' })
    expect((await call(token, 'GET', '/../shop/files/other/o')).body).toBe('in /other/o')
    expect((await call(token, 'GET', '/files/other/o')).status).toBe(404)
    await owner('DELETE', '/../shop')
    expect((await call(token, 'GET', '/../shop/files/other/o')).status).toBe(404)
    await owner('POST', '/../shop/restore', {})
    expect((await call(token, 'GET', '/../shop/files/other/o')).body).toBe('in /other/o')
  })

  it('the four outcomes: read src, read tests, write tests denied, outside is not there', async () => {
    const token = await issue([
      ['/repo/src', 'read', 'list', 'search', 'write'],
      ['/repo/tests', 'read', 'list', 'search'],
    ])
    expect((await call(token, 'GET', '/files/repo/src/a.ts')).body).toBe('in /repo/src/a.ts')
    expect((await call(token, 'GET', '/files/repo/tests/t.ts')).body).toBe('in /repo/tests/t.ts')
    expect(await call(token, 'PUT', '/files/repo/tests/t.ts', 'x')).toMatchObject({
      status: 403,
      code: 'forbidden',
    })
    const [hidden, absent] = [
      await call(token, 'GET', '/files/other/o'),
      await call(token, 'GET', '/files/other/p'),
    ]
    expect(hidden.status).toBe(404)
    expect(withoutId(hidden.body)).toBe(withoutId(absent.body))
  })

  it('what it denies it says in words that help', async () => {
    const token = await issue([
      ['/repo/tests', 'read', 'list'],
      ['/repo/src', 'delete'],
    ])
    const { body } = await call(token, 'DELETE', '/files/repo/tests/t.ts')
    expect(body).toContain('cannot delete /repo/tests/t.ts: the token allows read, list there')
    expect(JSON.parse(body)).toMatchObject({ error: { errno: 'EACCES', retry: 'never' } })
  })

  it('a symlink leads nowhere that the token does not', async () => {
    await owner('POST', '/files/repo/src/out?symlink', { target: '/other/o' })
    await owner('POST', '/files/repo/src/in?symlink', { target: '../tests/t.ts' })
    const token = await issue([
      ['/repo/src', 'read', 'list', 'write'],
      ['/repo/tests', 'read'],
    ])
    expect((await call(token, 'GET', '/files/repo/src/out')).status).toBe(404)
    expect((await call(token, 'PUT', '/files/repo/src/out', 'x')).status).toBe(404)
    expect((await call(token, 'GET', '/files/repo/src/in')).body).toBe('in /repo/tests/t.ts')
    expect((await call(token, 'PUT', '/files/repo/src/in', 'x')).status).toBe(403)
  })

  it('for a file with several names, one allowed name is enough', async () => {
    await owner('POST', '/files/other/o?link', { to: '/repo/src/o' })
    const token = await issue([['/repo/src', 'read', 'list', 'write']])
    expect((await call(token, 'PUT', '/files/repo/src/o', 'shared')).status).toBe(200)
    expect(await owner('GET', '/files/other/o')).toBe('shared')
    await owner('DELETE', '/files/repo/src/o')
    expect((await call(token, 'GET', '/files/other/o')).status).toBe(404)
  })

  it('a whole tree is copied without what is hidden in it, and not moved', async () => {
    const all = ['read', 'list', 'write', 'delete'] as const
    const token = await issue([['/', ...all]], { deny: ['/repo/keys'] })
    await owner('POST', '/files/box?mkdir', {})
    expect((await call(token, 'POST', '/files/repo/src?copy', { to: '/box/src' })).status).toBe(200)
    expect((await call(token, 'POST', '/files/repo?move', { to: '/box/r' })).status).toBe(403)
    expect((await call(token, 'DELETE', '/files/repo?recursive')).status).toBe(409)
    expect(await owner('GET', '/files/repo/keys/k')).toBe('in /repo/keys/k')
  })

  it('the way to where it may write may be made', async () => {
    const token = await issue([['/new/deep/place', 'write', 'list']])
    expect((await call(token, 'PUT', '/files/new/deep/place/f', 'x')).status).toBe(201)
    expect((await call(token, 'PUT', '/files/new/f', 'x')).status).toBe(403)
  })

  it('a budget counts what it adds in all, through every narrower token too', async () => {
    const token = await issue([['/repo/src', 'read', 'write', 'delete']], {
      maxBytes: 10,
      maxFiles: 3,
    })
    const put = async (name: string, text: string): Promise<number> =>
      (await call(token, 'PUT', `/files/repo/src/${name}`, text)).status
    expect(await put('one', '123456')).toBe(201)
    expect(await put('two', '123456')).toBe(507)
    expect((await call(token, 'DELETE', '/files/repo/src/one')).status).toBe(200)
    expect(await put('two', '1234')).toBe(201)
    expect(await put('three', '')).toBe(201)
    expect(await put('four', '')).toBe(507)
    const shown = JSON.parse(await owner('GET', '/tokens/t')) as { used: object }
    expect(shown.used).toEqual({ bytes: 10, files: 3 })
    const both = await Promise.all([put('two', '1234567'), put('three', '1234567')])
    expect(both).toEqual([507, 507])
  })

  it('events tell of what is in scope only', async () => {
    const token = await issue([['/repo/src', 'read', 'list']])
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    const headers = { authorization: `Bearer ${token}` }
    const events = await fetch(`${url}${root}/events?after=0`, { headers })
    const reader = events.body!.pipeThrough(new TextDecoderStream()).getReader()
    await owner('PUT', '/files/other/o', 'again')
    await owner('POST', '/files/repo/src/a.ts?move', { to: '/other/a.ts' })
    await owner('PUT', '/files/repo/src/last', 'x')
    let text = ''
    while (!text.includes('/repo/src/last')) text += (await reader.read()).value ?? ''
    await reader.cancel()
    expect(text).not.toContain('/other')
    expect(text).not.toContain('keys')
    await app.close()
  })

  describe('and layers', () => {
    const all = accessOperations.filter((operation) => operation !== 'commit')

    beforeEach(async () => {
      await owner('POST', '/layers', { path: '/repo', name: 'try', id: 'try-id' })
      await owner('POST', '/layers', { path: '/other', name: 'unseen', id: 'unseen-id' })
      for (const path of ['/repo/src/a.ts', '/repo/keys/k'])
        await owner('PUT', `/files${path}?layer=try`, `changed ${path}`)
    })

    it('one that is bound to a layer has no other, and means it unasked', async () => {
      const token = await issue([['/repo', ...all]], { layer: 'try' })
      expect((await call(token, 'GET', '/files/repo/src/a.ts')).body).toBe('changed /repo/src/a.ts')
      expect((await call(token, 'PUT', '/files/repo/src/b.ts', 'b')).status).toBe(201)
      expect((await call(secret, 'GET', '/files/repo/src/b.ts')).status).toBe(404)
      for (const other of ['?layer=unseen', '?branch=main', '?layer=main'])
        expect((await call(token, 'GET', `/files/repo/src/a.ts${other}`)).code, other).toBe(
          'branch_missing',
        )
      expect((await call(token, 'GET', '/files/repo/src/a.ts?side=target')).status).toBe(403)
      expect(JSON.parse((await call(token, 'GET', '/layers')).body)).toMatchObject({
        items: [{ id: 'try-id' }],
      })
      expect((await call(token, 'POST', '/layers', { path: '/repo' })).status).toBe(403)
      expect((await call(token, 'POST', '/layers/try/commit', {})).code).toBe('forbidden')
    })

    it('committing takes a right of its own, to all of the path', async () => {
      const part = await issue([['/repo/src', ...accessOperations]])
      const spoiled = await issue([['/repo', ...accessOperations]], { deny: ['/repo/keys'] })
      const whole = await issue([['/repo', 'commit']])
      expect((await call(part, 'POST', '/layers/try/commit', {})).code).toBe('forbidden')
      expect((await call(spoiled, 'POST', '/layers/try/commit', {})).code).toBe('forbidden')
      expect((await call(whole, 'POST', '/layers/unseen/commit', {})).code).toBe('branch_missing')
      expect((await call(whole, 'POST', '/layers/try/pick', {})).code).toBe('forbidden')
      expect((await call(whole, 'POST', '/layers/try/commit', {})).status).toBe(200)
      expect(await owner('GET', '/files/repo/keys/k')).toBe('changed /repo/keys/k')
    })

    it('a comparison shows what is in scope, and of a move over the border one side', async () => {
      await owner('POST', '/files/repo/tests/t.ts?move&layer=try', { to: '/repo/src/t.ts' })
      const token = await issue([['/repo/src', 'read', 'list']])
      const { body } = await call(token, 'GET', '/layers/try/diff')
      expect(JSON.parse(body)).toMatchObject({
        items: [
          { kind: 'modified', path: '/repo/src/a.ts' },
          { kind: 'added', path: '/repo/src/t.ts' },
        ],
      })
      const patch = (await call(token, 'GET', '/layers/try/diff?patch')).body
      expect(patch).toContain('repo/src/a.ts')
      expect(patch).not.toMatch(/keys|[ab]\/repo\/tests/)
      expect((await call(token, 'GET', '/layers/try/diff?to=unseen')).code).toBe('branch_missing')
      expect((await call(token, 'GET', '/layers/try')).code).toBe('forbidden')
      const listed = await issue([['/repo/src', 'list']])
      expect((await call(listed, 'GET', '/layers/try/diff?patch')).body).toBe('')
    })
  })
})

function withoutId(body: string): string {
  return body.replace(/"requestId":"[^"]*"/, '').replaceAll('/other/p', '/other/o')
}
