import type { LightMyRequestResponse as Response } from 'fastify'
import { describe, expect, it } from 'vitest'
import { memoryDoor, secret } from '../../test/memory-door.ts'
import { FailedAttempts } from './attempts.ts'

describe('wrong keys', () => {
  it('after twenty of them an address waits a second for each; others do not', async () => {
    let nowMs = 0
    const app = memoryDoor({ attempts: new FailedAttempts(() => nowMs) })
    const show = async (key: string | undefined, remoteAddress = '10.0.0.1'): Promise<Response> =>
      app.inject({
        method: 'GET',
        url: '/v1/workspaces',
        remoteAddress,
        headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      })
    for (let i = 0; i < 20; i++) expect((await show(`wrong-key-${i}`)).statusCode).toBe(401)
    const late = await show('wrong-key-20')
    expect([late.statusCode, late.headers['retry-after']]).toEqual([429, '1'])
    expect(late.json()).toMatchObject({
      error: { code: 'too_many_attempts', retry: 'same-request' },
    })
    // Otherwise a client that guesses right would learn it.
    expect((await show(secret)).statusCode).toBe(429)
    expect((await show(secret, '10.0.0.2')).statusCode).toBe(200)
    nowMs += 1000
    expect((await show(secret)).statusCode).toBe(200)
    expect((await show('wrong-key-21')).statusCode).toBe(401)
    expect((await show('wrong-key-22')).statusCode).toBe(429)
    // Who was let in from there before is not locked out by a neighbour.
    expect((await show(secret)).statusCode).toBe(200)
  })

  it('no key at all is no guess', async () => {
    const app = memoryDoor()
    for (let i = 0; i < 50; i++)
      expect((await app.inject({ method: 'GET', url: '/v1/workspaces' })).statusCode).toBe(401)
  })

  it('the oldest of many addresses with wrong keys is forgotten first', () => {
    const attempts = new FailedAttempts(() => 0)
    for (let i = 0; i < 20; i++) attempts.note('first')
    expect(attempts.waitMs('first')).toBeGreaterThan(0)
    for (let i = 0; i < 4096; i++) attempts.note(`address ${i}`)
    expect(attempts.waitMs('first')).toBe(0)
  })
})

describe('the log of a server', () => {
  it('the log of a server has no secret, whatever fails', async () => {
    let log = ''
    const app = memoryDoor({ logStream: { write: (line) => (log += line) } })
    const call = async (
      key: string,
      method: 'GET' | 'POST',
      url: string,
      payload?: object,
    ): Promise<string> => {
      const headers = { authorization: `Bearer ${key}` }
      return (await app.inject({ method, url, headers, ...(payload ? { payload } : {}) })).body
    }
    await call(secret, 'POST', '/v1/workspaces', { name: 'w' })
    const allow = [{ path: '/a', operations: ['read'] }]
    const body = { name: 't', ttlMs: 60_000, allow }
    const issued = await call(secret, 'POST', '/v1/workspaces/w/tokens', body)
    const token = (JSON.parse(issued) as { secret: string }).secret
    await call(token, 'GET', '/v1/workspaces/w/files/a')
    await call(token, 'GET', '/v1/workspaces/w/tokens')
    await call(`${token.slice(0, -1)}_`, 'GET', '/v1/workspaces/w/files/a')
    expect(log).toContain('/v1/workspaces/w/tokens')
    for (const each of [secret, token, token.split('.').at(-1)!]) expect(log).not.toContain(each)
  })
})
