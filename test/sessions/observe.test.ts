import { connectWebSocket, type SessionClient } from '@cairn/mount'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createWorkspace,
  type RunningServer,
  secret,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const leaseMs = 1500

const { openSession, startServer } = useSessions()

describe('how many sessions a server has', () => {
  let server: RunningServer

  beforeEach(async () => {
    server = await startServer(new SharedStores(), leaseMs, 0, {
      places: { all: 2, owner: 9, token: 9, address: 9 },
    })
    await createWorkspace(server)
  })

  const open = (mode: 'read' | 'write'): SessionClient => openSession(server, { mode })
  const metric = async (name: string): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}` }
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    return Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1] ?? 0,
    )
  }

  it('how many sessions a server has is counted by mode, and so are recalls', async () => {
    // The first write of a server fetches inode numbers, and so needs two turns.
    expect((await call(server, 'PUT', '/w/files/first', 'x')).status).toBe(201)
    const [writer, reader] = [open('write'), open('read')]
    await Promise.all([writer.welcomed, reader.welcomed])
    await until(() => writer.standing === 'lease')
    expect(await metric('cairn_sessions{mode="write"}')).toBe(1)
    expect(await metric('cairn_sessions{mode="read"}')).toBe(1)
    expect(await metric('cairn_lease_recalls_total')).toBe(0)
    expect((await call(server, 'PUT', '/w/files/f', 'x')).status).toBe(201)
    expect(await metric('cairn_lease_recalls_total')).toBe(1)
    reader.abandon()
    await until(async () => (await metric('cairn_sessions{mode="read"}')) === 0)
    expect(await metric('cairn_sessions{mode="write"}')).toBe(1)
  })

  it('how many sessions a server has is bounded: one more is refused, and finds a place when another one ends', async () => {
    const [first, second] = [open('read'), open('read')]
    await Promise.all([first.welcomed, second.welcomed])
    const connect = connectWebSocket(server.url, secret)
    const events = { onReply: () => undefined, onClose: () => undefined }
    await expect(connect(events)).rejects.toMatchObject({ code: 'storage_unavailable' })
    const refusal = await upgrade(server.url)
    expect(refusal.status).toBe(503)
    expect(refusal.text).toMatch('has 2 sessions open, and takes no more')
    const third = open('read')
    first.abandon()
    await third.welcomed
  })
})

/** Asks as a WebSocket does, and reads what is answered instead. */
async function upgrade(url: string): Promise<{ status: number; text: string }> {
  const { request } = await import('node:http')
  return new Promise((resolve, reject) => {
    const headers = {
      authorization: `Bearer ${secret}`,
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    const asked = request(`${url}/v1/sessions`, { headers })
    asked.on('response', (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => (text += part))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    asked.on('error', reject)
    asked.end()
  })
}
