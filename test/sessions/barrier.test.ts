import type { SessionClient } from '@cairn/mount'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createFile,
  now,
  openSession,
  type RunningServer,
  SharedStores,
  startServer,
  until,
} from './fixture.ts'

/** What a barrier waits at most for a writer that says nothing. */
const patienceMs = 1000

describe('barrier', () => {
  let shared: SharedStores
  let server: RunningServer
  let a: SessionClient
  let b: SessionClient
  const opened: SessionClient[] = []
  const open = (at: RunningServer): SessionClient => {
    const client = openSession(at)
    opened.push(client)
    return client
  }

  beforeEach(async () => {
    shared = new SharedStores()
    server = await startServer(shared, 10_000)
    expect((await call(server, 'POST', '', '{"name":"w"}')).status).toBe(201)
    a = open(server)
    b = open(server)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
  })

  afterEach(async () => {
    for (const client of opened.splice(0)) client.abandon()
    await server.close()
  })

  const write = async (): Promise<number> => (await a.submit([createFile('a', 1001)], now())).seq
  /** How long the barrier took. */
  const pass = async (seq: number): Promise<number> => {
    const begin = performance.now()
    await a.barrier(seq)
    return performance.now() - begin
  }

  it('falls when the other writer has seen the batch, and not before', async () => {
    const seq = await write()
    const events: string[] = []
    const passed = a.barrier(seq).then(() => events.push('passed'))
    b.seen(seq - 1)
    // Answered behind what was said before it, over the same connection.
    await b.ask({ type: 'inodes', count: 1 })
    events.push('seen')
    b.seen(seq)
    await passed
    expect(events).toEqual(['seen', 'passed'])
  })

  it('falls at once for what everybody has seen', async () => {
    const seq = await write()
    b.seen(seq)
    await b.ask({ type: 'inodes', count: 1 })
    expect(await pass(seq)).toBeLessThan(patienceMs / 2)
  })

  it('falls when the other writer leaves', async () => {
    const seq = await write()
    const passed = pass(seq)
    await b.close()
    expect(await passed).toBeLessThan(patienceMs / 2)
  })

  it('waits a second at most for one that says nothing', async () => {
    const seq = await write()
    const took = await pass(seq)
    expect(took).toBeGreaterThan(patienceMs * 0.9)
    expect(took).toBeLessThan(patienceMs * 3)
  })

  it('waits until other servers have looked, when writers are there', async () => {
    const second = await startServer(shared, 10_000)
    try {
      const c = open(second)
      await until(() => c.standing === 'shared')
      const seq = await write()
      b.seen(seq)
      await b.ask({ type: 'inodes', count: 1 })
      // Servers of these tests look every 20 ms.
      expect(await pass(seq)).toBeGreaterThan(39)
    } finally {
      await second.close()
    }
  })
})
