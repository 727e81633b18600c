import { keyRoutes } from '@cairn/protocol/routes'
import { describe, expect, it } from 'vitest'
import { findMisfit } from './find-misfit.ts'
import { memoryDoor } from './memory-door.ts'

const route = keyRoutes['GET /v1/keys']
const key = { name: 'alice', state: 'live', createdAt: '2026-11-02T10:00:00.000Z' }

describe('an answer that its schema does not allow', () => {
  it('a surplus field, a missing one or another type is a misfit', () => {
    expect(findMisfit(route, 200, { items: [key] })).toBe(undefined)
    expect(findMisfit(route, 200, { items: [{ ...key, extra: 1 }] })).toContain('extra')
    expect(findMisfit(route, 200, {})).toContain('items')
    expect(findMisfit(route, 200, { items: [{ ...key, state: 'gone' }] })).toContain('state')
  })

  it('an answer that its schema does not allow is one with a status that the route does not name', () => {
    expect(findMisfit(route, 201, { items: [] })).toContain('no JSON for this status')
  })

  it('an answer that its schema does not allow is an error without a code', () => {
    expect(findMisfit(route, 404, { error: { message: 'no' } })).toContain('error')
  })

  it('fails the request in every test, because each server of the suite is watched', async () => {
    const app = memoryDoor()
    app.get('/wrong', { config: { access: 'open', route } }, async () => ({ items: [{}] }))
    expect((await app.inject({ method: 'GET', url: '/wrong' })).statusCode).toBe(500)
  })
})
