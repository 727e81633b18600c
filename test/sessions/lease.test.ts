import type { RescueOutcome } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createFile,
  createWorkspace,
  Network,
  now,
  type RunningServer,
  secret,
  SharedStores,
  until,
  writeBytes,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

/** Short enough to wait for, long enough not to run out on a busy machine. */
const leaseMs = 1500

const { openSession, startServer } = useSessions()

describe('sessions', () => {
  let shared: SharedStores
  let server: RunningServer

  beforeEach(async () => {
    shared = new SharedStores()
    server = await startServer(shared, leaseMs)
    await createWorkspace(server)
  })

  const names = async (from = server): Promise<string[]> => {
    const { text } = await call(from, 'GET', '/w/files/?list&limit=1000')
    return (JSON.parse(text) as { items: { name: string }[] }).items.map(({ name }) => name)
  }

  it('the only writer gets the lease, and what it submits is in the branch', async () => {
    const a = openSession(server)
    await until(() => a.standing === 'lease')
    await a.submit([createFile('one', 1001)], now(), true)
    expect(await names()).toEqual(['one'])
  })

  it('a second writer: the first drains and both share; O_EXCL has one winner', async () => {
    const a = openSession(server)
    await until(() => a.standing === 'lease')
    const early = Array.from({ length: 50 }, (_, i) =>
      a.submit([createFile(`early-${i}`, 2000 + i)], now(), true),
    )
    const b = openSession(server)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
    await Promise.all(early)
    const outcomes = await Promise.allSettled([
      a.submit([createFile('LOCK', 3001)], now()),
      b.submit([createFile('LOCK', 3002)], now()),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect((await names()).length).toBe(51)
  })

  it('the writer that remains gets the lease back', async () => {
    const a = openSession(server)
    const b = openSession(server)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
    await b.close()
    await until(() => a.standing === 'lease')
  })

  it('a one-off write through HTTP recalls the lease, and gives it back', async () => {
    const a = openSession(server)
    await until(() => a.standing === 'lease')
    await a.submit([createFile('mine', 1001)], now(), true)
    expect((await call(server, 'PUT', '/w/files/theirs', 'x')).status).toBe(201)
    await until(() => a.standing === 'lease')
    await a.submit([createFile('mine-again', 1002)], now(), true)
    expect(await names()).toEqual(['mine', 'mine-again', 'theirs'])
  })

  it('two servers on the same stores: each sees what is written on the other', async () => {
    const second = await startServer(shared, leaseMs)
    const a = openSession(server)
    const b = openSession(second)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
    await Promise.all([
      a.submit([createFile('on-first', 1001)], now()),
      b.submit([createFile('on-second', 1002)], now()),
    ])
    await until(async () => (await names(second)).length === 2)
    await until(async () => (await names(server)).length === 2)
  })

  it('two servers on the same stores: who only reads hears of what is written on the other', async () => {
    const second = await startServer(shared, leaseMs)
    const heard: Uint8Array[] = []
    const reader = openSession(second, { mode: 'read', onBatch: (batch) => heard.push(batch) })
    await until(() => reader.isConnected)
    const writer = openSession(server)
    await until(() => writer.standing === 'lease')
    const { length } = heard
    await writer.submit([createFile('on-first', 1001)], now(), true)
    await until(() => heard.length > length)
  })

  it('two servers on the same stores: events of one tell what is written on the other', async () => {
    const second = await startServer(shared, leaseMs)
    const stop = new AbortController()
    const headers = { authorization: `Bearer ${secret}` }
    const url = `${second.url}/v1/workspaces/w/events`
    const { body } = await fetch(url, { headers, signal: stop.signal })
    const lines = body!.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
    let heard = (await lines.next()).value ?? ''
    expect((await call(server, 'PUT', '/w/files/on-first', 'x')).status).toBe(201)
    while (!heard.includes('event: change')) heard += (await lines.next()).value ?? ''
    expect(heard).toContain('/on-first')
    stop.abort()
  })

  it('a server that goes and comes back: what was submitted meanwhile arrives, in order, once', async () => {
    const a = openSession(server)
    await until(() => a.standing === 'lease')
    const port = new URL(server.url).port
    await server.close()
    const submitted = Array.from({ length: 20 }, (_, i) =>
      a.submit([createFile(`f-${String(i).padStart(2, '0')}`, 1001 + i)], now()),
    )
    server = await startServer(shared, leaseMs, Number(port))
    const receipts = await Promise.all(submitted)
    const order = receipts.map(({ seq }) => seq)
    expect(order).toEqual(order.toSorted((x, y) => x - y))
    expect((await names()).length).toBe(20)
  })

  describe('a holder that is cut off while another writer comes', () => {
    it('its late writes are committed when nothing conflicts', async () => {
      const network = new Network()
      const outcomes: RescueOutcome[] = []
      const a = openSession(server, { network, onRescue: (outcome) => outcomes.push(outcome) })
      await until(() => a.standing === 'lease')
      await a.submit([createFile('before', 1001)], now(), true)
      network.cut()
      const late = a.submit([createFile('late', 1002)], now(), true)
      late.catch(() => undefined)
      const b = openSession(server)
      await until(() => b.standing === 'lease')
      await b.submit([createFile('theirs', 1003)], now(), true)
      network.heal()
      await until(() => outcomes.length > 0)
      expect(outcomes[0]).toMatchObject({ result: 'committed' })
      await expect(late).rejects.toThrow(/committed /)
      await until(async () => (await names()).join() === 'before,late,theirs')
    })

    it('its late writes are kept in a layer when something conflicts, and theirs stay', async () => {
      const network = new Network()
      const outcomes: RescueOutcome[] = []
      const a = openSession(server, { network, onRescue: (outcome) => outcomes.push(outcome) })
      await until(() => a.standing === 'lease')
      network.cut()
      const late = a.submit([createFile('same', 1002), writeBytes(1002, 'mine')], now(), true)
      late.catch(() => undefined)
      const b = openSession(server)
      await until(() => b.standing === 'lease')
      await b.submit([createFile('same', 1003), writeBytes(1003, 'theirs')], now(), true)
      network.heal()
      await until(() => outcomes.length > 0)
      expect(outcomes[0]).toMatchObject({ result: 'kept' })
      expect((await call(server, 'GET', '/w/files/same')).text).toBe('theirs')
      expect(await names()).toEqual(['same'])
    })
  })
})
