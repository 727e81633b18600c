import { connectWebSocket, type SessionClient } from '@cairn/mount'
import { FaultProxy } from '@cairn/server/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createFile,
  createWorkspace,
  now,
  type RunningServer,
  secret,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const heartbeatMs = 50

const { openSession, startServer } = useSessions()

describe('a network that goes silent', () => {
  let server: RunningServer
  let proxy: FaultProxy
  const open = (heartbeat: number): SessionClient =>
    openSession({ url: `http://127.0.0.1:${proxy.port}` }, { heartbeatMs: heartbeat })

  beforeEach(async () => {
    server = await startServer(new SharedStores(), 60_000, 0, { heartbeatMs })
    proxy = await FaultProxy.start(Number(new URL(server.url).port))
    await createWorkspace(server)
  })

  afterEach(() => proxy.stop())

  it('the client leaves the connection, comes back over another, and what it submitted meanwhile arrives', async () => {
    const client = open(heartbeatMs)
    await until(() => client.standing === 'lease')
    proxy.silence()
    const late = client.submit([createFile('late', 1001)], now(), true)
    expect(await late).toMatchObject({ seq: client.seq })
    expect(client.standing).toBe('lease')
  })

  it('the server ends the connection: a barrier does not wait for its session', async () => {
    const gone = open(60_000)
    const here = openSession(server)
    await until(() => gone.standing === 'shared' && here.standing === 'shared')
    proxy.silence()
    const { seq } = await here.submit([createFile('a', 1001)], now())
    const begin = performance.now()
    await here.barrier(seq)
    // Three beats, and less than the second that one which is connected and silent is given.
    expect(performance.now() - begin).toBeLessThan(800)
  })

  it('a connection with nothing to say stays', async () => {
    let connections = 0
    const connect = connectWebSocket(server.url, secret, { heartbeatMs })
    const reader = openSession(server, {
      mode: 'read',
      connect: (events) => {
        connections++
        return connect(events)
      },
    })
    await reader.welcomed
    const end = performance.now() + 10 * heartbeatMs
    await until(() => performance.now() > end)
    await reader.ask({ type: 'inodes', count: 1 })
    expect(connections).toBe(1)
  })
})
