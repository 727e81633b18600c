import type { FastifyInstance } from 'fastify'
import { beforeEach, describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'

describe('files over HTTP', () => {
  let app: FastifyInstance
  const auth = { authorization: `Bearer ${secret}` }
  const call = async (
    method: 'GET' | 'PUT' | 'POST' | 'PATCH' | 'DELETE' | 'HEAD',
    url: string,
    payload?: string | Buffer | object,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: string; json: never; headers: Record<string, unknown> }> => {
    const answer = await app.inject({
      method,
      url,
      headers: { ...auth, ...headers },
      ...(payload === undefined ? {} : { payload }),
    })
    const isJson = String(answer.headers['content-type']).includes('application/json')
    return {
      status: answer.statusCode,
      body: answer.body,
      json: (isJson && answer.body !== '' ? answer.json() : undefined) as never,
      headers: answer.headers,
    }
  }
  const files = '/v1/workspaces/w/files'

  beforeEach(async () => {
    app = memoryDoor()
    expect((await call('POST', '/v1/workspaces', { name: 'w' })).status).toBe(201)
  })

  it('what was put comes back, byte for byte', async () => {
    const body = Buffer.from(Array.from({ length: 700_000 }, (_, i) => (i * 31) % 256))
    expect((await call('PUT', `${files}/a/b/big.bin`, body)).status).toBe(201)
    const answer = await app.inject({ method: 'GET', url: `${files}/a/b/big.bin`, headers: auth })
    expect(answer.rawPayload.equals(body)).toBe(true)
  })

  it('a range gives that range, one past the end 416', async () => {
    await call('PUT', `${files}/f`, 'hello world')
    const part = await call('GET', `${files}/f`, undefined, { range: 'bytes=6-' })
    expect([part.status, part.body, part.headers['content-range']]).toEqual([
      206,
      'world',
      'bytes 6-10/11',
    ])
    expect((await call('GET', `${files}/f`, undefined, { range: 'bytes=11-' })).status).toBe(416)
  })

  it('If-None-Match: * makes a file once', async () => {
    expect((await call('PUT', `${files}/lock`, 'a', { 'if-none-match': '*' })).status).toBe(201)
    const second = await call('PUT', `${files}/lock`, 'b', { 'if-none-match': '*' })
    expect([second.status, second.json]).toMatchObject([
      412,
      { error: { code: 'precondition_failed' } },
    ])
    expect((await call('GET', `${files}/lock`)).body).toBe('a')
  })

  it('a repeated request with an idempotency key gets its first answer, whatever happened since', async () => {
    const put = (body: string, key: string): ReturnType<typeof call> =>
      call('PUT', `${files}/f`, body, { 'idempotency-key': key })
    const made = await put('one', 'k1')
    const replaced = await put('two', 'k2')
    expect([made.status, replaced.status]).toEqual([201, 200])
    await call('DELETE', `${files}/f`)
    for (const [first, body, key] of [
      [made, 'one', 'k1'],
      [replaced, 'two', 'k2'],
    ] as const) {
      const again = await put(body, key)
      expect([again.status, again.json]).toEqual([first.status, first.json])
    }
    expect((await call('GET', `${files}/f`)).status).toBe(404)
  })

  it('an idempotency key sent again appends once', async () => {
    const key = { 'idempotency-key': 'k1' }
    const first = await call('POST', `${files}/log?append`, 'line\n', key)
    // Whichever tool call it is made in.
    const other = { ...key, 'x-cairn-tool-call': 'call-7' }
    const again = await call('POST', `${files}/log?append`, 'line\n', other)
    expect(again.json).toMatchObject({ seq: (first.json as { seq: number }).seq })
    expect((await call('GET', `${files}/log`)).body).toBe('line\n')
  })

  it('patch, move, copy, links, modes and removal do what they say', async () => {
    await call('PUT', `${files}/d/f`, 'hello world')
    await call('PATCH', `${files}/d/f`, 'WORLD', { 'content-range': 'bytes 6-10/*' })
    await call('POST', `${files}/d/f?copy`, { to: '/d/g' })
    await call('POST', `${files}/d/f?move`, { to: '/e/f', parents: true })
    await call('POST', `${files}/e/f?link`, { to: '/e/h' })
    await call('POST', `${files}/e/s?symlink`, { target: 'f' })
    await call('POST', `${files}/e/f?chmod`, { mode: '0600' })
    expect((await call('GET', `${files}/e/s`)).body).toBe('hello WORLD')
    expect((await call('GET', `${files}/d/g`)).body).toBe('hello WORLD')
    expect((await call('GET', `${files}/e/h?stat`)).json).toMatchObject({ nlink: 2, mode: '0600' })
    const refused = await call('DELETE', `${files}/e`)
    expect([refused.status, refused.json]).toMatchObject([409, { error: { errno: 'ENOTEMPTY' } }])
    expect((await call('DELETE', `${files}/e?recursive`)).status).toBe(200)
    expect((await call('GET', `${files}/e/f`)).status).toBe(404)
  })

  it('listings page in byte order and stream recursively', async () => {
    for (const name of ['b', 'a', 'c', 'd%2Fx', '%FF']) await call('PUT', `${files}/${name}`, 'x')
    const first = await call('GET', `${files}/?list&limit=2`)
    expect((first.json as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual([
      'a',
      'b',
    ])
    const { next } = first.json as { next: string }
    const second = await call('GET', `${files}/?list&limit=10&cursor=${next}`)
    expect((second.json as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual([
      'c',
      'd',
      '\uFFFD',
    ])
    const walk = await call('GET', `${files}/?list&recursive`)
    expect(walk.body.trim().split('\n')).toHaveLength(6)
  })

  it('a batch happens as a whole or not at all', async () => {
    const refused = await call('POST', '/v1/workspaces/w/batch', {
      operations: [
        { op: 'write', path: '/one', text: '1' },
        { op: 'remove', path: '/missing' },
      ],
    })
    expect([refused.status, refused.json]).toMatchObject([
      404,
      { error: { errno: 'ENOENT', subject: 'operations[1]' } },
    ])
    expect((await call('GET', `${files}/one`)).status).toBe(404)
  })

  it('the log tells who changed what', async () => {
    await call('PUT', `${files}/a`, '1')
    await call('PUT', `${files}/b`, '2')
    const log = await call('GET', '/v1/workspaces/w/log?path=/b')
    expect(log.json).toMatchObject({
      items: [
        {
          actor: 'key_1',
          operations: [
            { op: 'create', path: '/b' },
            { op: 'write', path: '/b' },
          ],
        },
      ],
    })
  })

  it('hostile paths and wrong keys are refused', async () => {
    for (const path of ['nul%00', 'x'.repeat(256), '%zz', 'a%2f..%2fb'])
      expect([path, (await call('PUT', `${files}/${path}`, 'x')).status]).toEqual([path, 400])
    const answer = await app.inject({
      method: 'GET',
      url: files,
      headers: { authorization: 'Bearer wrong-key' },
    })
    expect(answer.statusCode).toBe(401)
  })

  it('metrics count what was done, and take a key', async () => {
    await call('PUT', `${files}/a`, 'x')
    expect((await app.inject({ method: 'GET', url: '/metrics' })).statusCode).toBe(401)
    const answer = await call('GET', '/metrics')
    expect(answer.body).toMatch(/^cairn_batches_total [1-9]/m)
    expect(answer.body).toMatch(/cairn_http_request_seconds_count\{method="PUT"/)
  })

  it('an answer runs nowhere in a browser, and is kept by no proxy', async () => {
    await call('PUT', `${files}/page.html`, '<script>alert(1)</script>')
    for (const url of [`${files}/page.html`, `${files}/none`, '/healthz', '/nowhere'])
      expect((await call('GET', url)).headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'content-security-policy': expect.stringContaining("default-src 'none'") as string,
        'cache-control': 'private, no-cache',
      })
  })

  it('the OpenAPI document lists every route', async () => {
    const { paths } = (await call('GET', '/v1/openapi.json')).json as {
      paths: Record<string, object>
    }
    expect(Object.keys(paths['/v1/workspaces/{workspace}/files/{path}']!).sort()).toEqual([
      'delete',
      'get',
      'head',
      'patch',
      'post',
      'put',
    ])
  })

  it('an upload in blocks can be resumed', async () => {
    const body = Buffer.from(Array.from({ length: 600_000 }, (_, i) => (i * 7) % 251))
    const { id, blockBytes } = (await call('POST', '/v1/workspaces/w/uploads')).json as {
      id: string
      blockBytes: number
    }
    const upload = `/v1/workspaces/w/uploads/${id}`
    const block = (n: number): Buffer => body.subarray(n * blockBytes, (n + 1) * blockBytes)
    for (const n of [2, 0])
      expect((await call('PUT', `${upload}/blocks/${n}`, block(n))).status).toBe(204)
    const early = await call('POST', `${upload}/complete`, { path: '/big', size: body.length })
    expect([early.status, early.json]).toMatchObject([400, { error: { subject: 'block 1' } }])
    expect((await call('GET', upload)).json).toMatchObject({ blocks: [0, 2] })
    await call('PUT', `${upload}/blocks/1`, block(1))
    const complete = (): ReturnType<typeof call> =>
      call(
        'POST',
        `${upload}/complete`,
        { path: '/a/big', size: body.length },
        { 'idempotency-key': 'done' },
      )
    const done = await complete()
    expect((await complete()).json).toMatchObject({ seq: (done.json as { seq: number }).seq })
    expect(done.json).toMatchObject({ stat: { size: body.length } })
    const answer = await app.inject({ method: 'GET', url: `${files}/a/big`, headers: auth })
    expect(answer.rawPayload.equals(body)).toBe(true)
    expect((await call('GET', upload)).status).toBe(404)
  })
})
