import type { SessionClient } from '@cairn/mount'
import type { BranchId } from '@cairn/protocol'
import type { SessionNote } from '@cairn/server'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createFile,
  createWorkspace,
  now,
  type RunningServer,
  secret,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

/** What a barrier waits at most for a writer that says nothing. */
const patienceMs = 5000

const { openSession, startServer } = useSessions()

describe('barrier', () => {
  let shared: SharedStores
  let server: RunningServer
  let a: SessionClient
  let b: SessionClient
  const open = (at: RunningServer): SessionClient => openSession(at, { isSilent: true })

  beforeEach(async () => {
    shared = new SharedStores()
    server = await startServer(shared, 10_000)
    await createWorkspace(server)
    a = open(server)
    b = open(server)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
  })

  const write = async (): Promise<number> => (await a.submit([createFile('a', 1001)], now())).seq
  const put = async (to: RunningServer, name: string): Promise<void> => {
    expect((await call(to, 'PUT', `/w/files/${name}`, 'x')).status).toBe(201)
  }
  const branchId = async (): Promise<BranchId> => {
    const workspace = await server.workspaces.open('owner_1', 'w')
    return (await workspace.branch('main')).id
  }
  const notes = async (): Promise<readonly SessionNote[]> => shared.notes.list(await branchId())
  const noteOf = async ({ id }: SessionClient): Promise<SessionNote> =>
    (await notes()).find(({ session }) => session === id)!
  /** How many changes were answered before all had seen them. */
  const lateSessions = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${secret}` }
    const text = await (await fetch(`${server.url}/metrics`, { headers })).text()
    return Number(/^cairn_late_sessions_total (\d+)$/m.exec(text)?.[1])
  }
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

  it('waits five seconds at most for one that says nothing, and counts that', async () => {
    const seq = await write()
    const took = await pass(seq)
    expect(took).toBeGreaterThan(patienceMs * 0.9)
    expect(await lateSessions()).toBe(1)
  })

  it('a change by HTTP is answered when the writers have seen it, and not before', async () => {
    const events: string[] = []
    const { seq: before } = a
    const answered = put(server, 'by-http').then(() => events.push('answered'))
    await until(() => a.seq > before && b.seq > before)
    a.seen(a.seq)
    await b.ask({ type: 'inodes', count: 1 })
    events.push('seen')
    b.seen(b.seq)
    await answered
    expect(events).toEqual(['seen', 'answered'])
  })

  describe('with a second server', () => {
    let second: RunningServer
    let c: SessionClient

    beforeEach(async () => {
      second = await startServer(shared, 10_000)
      c = open(second)
      await until(() => c.standing === 'shared')
    })

    it('a session that joined waits until the holder there has handed its lease back', async () => {
      for (const client of [a, b]) await client.close()
      await until(() => c.canAcknowledge)
      const held = c.submit([createFile('held', 1002)], now(), true)
      const heard: number[] = []
      const joined = openSession(server, { onBatch: () => heard.push(joined.seq) })
      await joined.barrier((await joined.welcomed).seq)
      expect(joined.standing).toBe('shared')
      expect(heard).toContain((await held).seq)
    })

    it('falls when a writer there has seen the batch, and not before', async () => {
      const seq = await write()
      b.seen(seq)
      const events: string[] = []
      const passed = a.barrier(seq).then(() => events.push('passed'))
      await until(() => c.seq >= seq)
      c.seen(seq - 1)
      await until(async () => (await noteOf(c)).seen >= seq - 1)
      expect((await noteOf(c)).asked).toBe(seq)
      events.push('seen')
      c.seen(seq)
      await passed
      expect(events).toEqual(['seen', 'passed'])
    })

    it('a change by HTTP waits for the writers of both', async () => {
      const events: string[] = []
      const { seq: before } = a
      const answered = put(second, 'by-http').then(() => events.push('answered'))
      const all = [a, b, c]
      await until(() => all.every(({ seq }) => seq > before))
      for (const client of [c, a]) client.seen(client.seq)
      await until(async () => (await noteOf(b)).asked > before)
      events.push('seen')
      b.seen(b.seq)
      await answered
      expect(events).toEqual(['seen', 'answered'])
    })

    it('falls when the writer there leaves', async () => {
      const seq = await write()
      b.seen(seq)
      const passed = a.barrier(seq)
      await until(async () => (await noteOf(c)).asked === seq)
      await c.close()
      await passed
      expect(await lateSessions()).toBe(0)
    })

    it('a barrier does not wait for a writer whose server died, once it has run out', async () => {
      const third = await startServer(shared, 100)
      const d = open(third)
      await until(() => d.standing === 'shared')
      const note = await noteOf(d)
      d.abandon()
      await until(async () => (await notes()).every(({ session }) => session !== d.id))
      // As a server leaves it that is killed.
      await shared.notes.put(await branchId(), note)
      const seq = await write()
      for (const client of [b, c]) client.seen(seq)
      await a.barrier(seq)
      expect(await lateSessions()).toBe(0)
    })

    it('a session that joins there begins with everything that was answered before it joined', async () => {
      // No session follows the branch there, so that server does not look.
      await c.close()
      await until(async () => (await notes()).length === 2)
      const put = shared.notes.put.bind(shared.notes)
      let answered = 0
      shared.notes.put = async (...note) => {
        answered = await write()
        b.seen(answered)
        await a.barrier(answered)
        await put(...note)
      }
      const joining = open(second)
      expect((await joining.welcomed).seq).toBeGreaterThanOrEqual(answered)
      expect(await lateSessions()).toBe(0)
    })
  })
})
