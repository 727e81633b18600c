import { beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

interface Made {
  readonly sandboxID: string
  readonly envdAccessToken: string
}

/** What SDKs up to 2.50, the Python SDK and E2B's own command line send, and the current one does not. */
describe.skipIf(!canServe)('older and other clients of E2B', () => {
  const test = serveForTests()
  let made: Made

  async function call(method: string, path: string, body?: object): Promise<[number, unknown]> {
    const answer = await fetch(`${test.server.url}${path}`, {
      method,
      headers: { 'x-api-key': test.server.apiKey, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    return [answer.status, text === '' ? undefined : JSON.parse(text)]
  }

  async function rpc(method: string, body: object): Promise<[number, Record<string, unknown>]> {
    const answer = await fetch(`${test.server.url}/filesystem.Filesystem/${method}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'e2b-sandbox-id': made.sandboxID,
        'e2b-sandbox-port': '49983',
        'x-access-token': made.envdAccessToken,
      },
      body: JSON.stringify(body),
    })
    return [answer.status, (await answer.json()) as Record<string, unknown>]
  }

  beforeAll(async () => {
    const body = { templateID: 'base', secure: true, timeout: 300 }
    const [status, answer] = await call('POST', '/sandboxes', body)
    expect(status).toBe(201)
    made = answer as Made
  })

  it('connect, refresh and resume without /v2', async () => {
    const { sandboxID: id } = made
    expect((await call('POST', `/sandboxes/${id}/connect`, { timeout: 300 }))[0]).toBe(200)
    // With the id of a client behind it, as it once was.
    expect((await call('POST', `/sandboxes/${id}-client/refreshes`, { duration: 10 }))[0]).toBe(204)
    expect((await call('POST', `/sandboxes/${id}/resume`, { timeout: 300 }))[0]).toBe(409)
    expect((await call('POST', `/sandboxes/${id}/pause`))[0]).toBe(204)
    expect((await call('POST', `/sandboxes/${id}/pause`))[1]).toMatchObject({ code: 409 })
    expect((await call('POST', `/sandboxes/${id}/resume`, { timeout: 300 }))[0]).toBe(201)
  })

  it('find nothing at names that every object has', async () => {
    const headers = {
      'e2b-sandbox-id': made.sandboxID,
      'e2b-sandbox-port': '49983',
      'x-access-token': made.envdAccessToken,
    }
    for (const path of ['constructor/x', 'toString/constructor', '__proto__/constructor'])
      expect((await fetch(`${test.server.url}/${path}`, { method: 'POST', headers })).status).toBe(
        404,
      )
    expect((await rpc('constructor', {}))[0]).toBe(501)
  })

  it('older and other clients of E2B are told of teams and templates, and of what there is not', async () => {
    expect((await call('GET', '/teams'))[1]).toMatchObject([{ isDefault: true }])
    const templates = (await call('GET', '/templates'))[1] as unknown as { templateID: string }[]
    expect(templates.map(({ templateID }) => templateID)).toEqual([
      'base',
      'python',
      'node',
      'code-interpreter-v1',
    ])
    expect(await call('GET', '/secrets')).toMatchObject([404, { code: 404 }])
    expect(await call('POST', '/sandboxes', { timeout: 0 })).toMatchObject([400, { code: 400 }])
    expect((await call('POST', '/sandboxes', { timeout: 86_401 }))[0]).toBe(400)
  })

  it('ask for the events of a directory now and then', async () => {
    const [, { watcherId }] = await rpc('CreateWatcher', { path: '/tmp' })
    await rpc('MakeDir', { path: '/tmp/made' })
    const events: unknown[] = []
    await expect
      .poll(async () => {
        const [, answer] = await rpc('GetWatcherEvents', { watcherId })
        events.push(...(answer['events'] as unknown[]))
        return events
      })
      .toContainEqual({ name: 'made', type: 'EVENT_TYPE_CREATE' })
    expect((await rpc('RemoveWatcher', { watcherId }))[0]).toBe(200)
    expect(await rpc('GetWatcherEvents', { watcherId })).toMatchObject([404, { code: 'not_found' }])
  })
})
