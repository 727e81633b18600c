// An owner key that was removed or rotated opens nothing, and what goes on under it ends.
import { Cairn, isCairnError } from '@cairn/sdk'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { RawSession } from './raw-session.ts'

describe('a removed or rotated owner key', () => {
  let server: TestServer
  let secret: string

  beforeEach(async () => {
    server = await startServer()
    await server.cairn.workspaces.create('w')
    secret = (await server.cairn.keys.add('alice')).secret
  })
  afterEach(() => server.stop())

  const as = (apiKey: string): Cairn => new Cairn({ server: server.url, apiKey })
  const outcome = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'done',
      (error: unknown) => (isCairnError(error) ? error.code : String(error)),
    )
  const ends = {
    removed: () => server.cairn.keys.remove('alice'),
    rotated: () => server.cairn.keys.rotate('alice'),
  }

  it.each(Object.entries(ends))('%s, it opens nothing from the next request on', async (_, end) => {
    expect(await outcome(as(secret).workspaces.get('w'))).toBe('done')
    await end()
    expect(await outcome(as(secret).workspaces.get('w'))).toBe('access_ended')
    await expect(RawSession.open(server, secret)).rejects.toMatchObject({ code: 'access_ended' })
  })

  it.each(Object.entries(ends))('%s, its session ends with the reason', async (_, end) => {
    const session = await RawSession.open(server, secret)
    const other = await RawSession.open(server, server.apiKey)
    await end()
    expect((await session.hears('goodbye')).code).toBe('access_ended')
    await other.ask({ type: 'inode', ino: 1 as never })
    other.close()
  })

  it.each(Object.entries(ends))('%s, its download ends', async (_, end) => {
    const { files } = server.cairn.workspace('w')
    await files.write('/large', new Uint8Array(64 << 20).fill(1))
    const headers = { authorization: `Bearer ${secret}` }
    const answer = await fetch(`${server.url}/v1/workspaces/w/files/large`, { headers })
    const reader = answer.body!.getReader()
    await reader.read()
    const session = await RawSession.open(server, secret)
    await end()
    await session.hears('goodbye')
    // What is on its way may still arrive; the end of the file does not.
    const readAll = async (): Promise<void> => {
      while (!(await reader.read()).done);
    }
    await expect(readAll()).rejects.toThrow()
  })

  it.each(Object.entries(ends))('%s, its stream of events ends', async (_, end) => {
    const headers = { authorization: `Bearer ${secret}` }
    const events = await fetch(`${server.url}/v1/workspaces/w/events`, { headers })
    const all = events.text()
    await end()
    expect(await all).toMatch(/^id: \d+\n: following/)
  })

  it('an owner key that removes or rotates itself hears the answer', async () => {
    const alice = as(secret)
    const rotated = await alice.keys.rotate('alice')
    expect(rotated.name).toBe('alice')
    expect(await as(rotated.secret).keys.remove('alice')).toMatchObject({ state: 'removed' })
    expect(await outcome(as(rotated.secret).keys.list())).toBe('access_ended')
  })

  it('a key with a grace works until its end', async () => {
    const session = await RawSession.open(server, secret)
    const { secret: next } = await server.cairn.keys.rotate('alice', { graceMs: 3_600_000 })
    for (const each of [secret, next])
      expect(await outcome(as(each).workspaces.get('w'))).toBe('done')
    await session.ask({ type: 'inode', ino: 1 as never })
    session.close()
  })
})
