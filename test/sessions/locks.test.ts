import { decodeGrant, decodeHeldLocks, decodeLockAnswer, type SessionClient } from '@cairn/mount'
import { type Ino, isFsError } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  call,
  createFile,
  createWorkspace,
  Network,
  now,
  type RunningServer,
  SharedStores,
  until,
} from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const ino = 1001 as Ino
const leaseMs = 600

type Mode = 'none' | 'read' | 'write'

interface Range {
  readonly start?: number
  readonly end?: number
  readonly kind?: 'posix' | 'flock'
  readonly owner?: string
}

const { openSession, startServer } = useSessions()

/** Everything that is asked of one server is asked of two that share their stores as well. */
describe.each([1, 2])('locks of sessions on %i server(s)', (serverCount) => {
  let shared: SharedStores
  let servers: RunningServer[]
  let a: SessionClient
  let b: SessionClient
  let network: Network

  const open = (index: number, mode: 'read' | 'write' = 'write'): SessionClient =>
    openSession(servers[index % serverCount]!, { network, mode })

  beforeEach(async () => {
    shared = new SharedStores()
    servers = []
    while (servers.length < serverCount) servers.push(await startServer(shared, leaseMs))
    await createWorkspace(servers[0]!)
    network = new Network()
    a = open(0)
    network = new Network()
    b = open(1)
    await until(() => a.standing === 'shared' && b.standing === 'shared')
  })

  const ask = (
    client: SessionClient,
    mode: Mode,
    { start = 0, end = 99, kind = 'posix', owner = 'o' }: Range = {},
    wait?: AbortSignal,
  ): Promise<Uint8Array> =>
    client.ask(
      { type: 'lock', ino, kind, owner, start, end, mode, wait: wait ? 1 : 0, pid: 42 },
      wait,
    )
  const outcome = (answer: Promise<unknown>): Promise<string> =>
    answer.then(
      () => 'granted',
      (error: unknown) => (isFsError(error) ? error.code : String(error)),
    )
  const tryLock = (...args: Parameters<typeof ask>): Promise<string> => outcome(ask(...args))
  const forever = (): AbortSignal => new AbortController().signal
  const blocker = async (client: SessionClient, owner: string): Promise<unknown> => {
    const range = { ino, kind: 'posix', owner, start: 5, end: 5, mode: 'write' } as const
    return decodeLockAnswer(await client.ask({ type: 'blocker', ...range }))
  }

  it('a writer keeps others out, readers keep writers out, and ranges do not meet', async () => {
    expect(await tryLock(a, 'write', { end: 9 })).toBe('granted')
    expect(await tryLock(b, 'read', { end: 9 })).toBe('EAGAIN')
    expect(await tryLock(b, 'write', { start: 10 })).toBe('granted')
    expect(await tryLock(a, 'read', { end: 9 })).toBe('granted')
    expect(await tryLock(b, 'read', { end: 9 })).toBe('granted')
    expect(await tryLock(a, 'write', { end: 9 })).toBe('EAGAIN')
    expect(await tryLock(b, 'write', { kind: 'flock' })).toBe('granted')
  })

  it('a waiting session gets the lock when the holder unlocks', async () => {
    await ask(a, 'write')
    const waiting = tryLock(b, 'write', {}, forever())
    expect(await tryLock(b, 'write')).toBe('EAGAIN')
    await ask(a, 'none')
    expect(await waiting).toBe('granted')
  })

  it('the lock comes with all that its holder before wrote', async () => {
    await ask(a, 'write')
    const { seq } = await a.submit([createFile('a', 1001)], now())
    await ask(a, 'none')
    expect(decodeGrant(await ask(b, 'write'))).toBeGreaterThanOrEqual(seq)
  })

  it('a waiting session gets the lock when the holder leaves', async () => {
    await ask(a, 'write')
    const waiting = tryLock(b, 'write', {}, forever())
    await a.close()
    expect(await waiting).toBe('granted')
  })

  it('a waiting session gets the lock when the holder was silent for longer than the lease', async () => {
    await ask(a, 'write')
    const begin = performance.now()
    a.abandon()
    expect(await tryLock(b, 'write')).toBe('EAGAIN')
    expect(await tryLock(b, 'write', {}, forever())).toBe('granted')
    expect(performance.now() - begin).toBeLessThan(5 * leaseMs)
  })

  it('a wait that is cancelled ends with EINTR, and takes nothing', async () => {
    await ask(a, 'write')
    const stop = new AbortController()
    const waiting = tryLock(b, 'write', {}, stop.signal)
    stop.abort()
    expect(await waiting).toBe('EINTR')
    await ask(a, 'none')
    expect(await tryLock(a, 'write', { owner: 'another' })).toBe('granted')
  })

  it('a wait goes on over a broken connection', async () => {
    await ask(a, 'write')
    const waiting = tryLock(b, 'write', {}, forever())
    network.cut()
    await until(() => !b.isConnected)
    network.heal()
    await until(() => b.isConnected)
    await ask(a, 'none')
    expect(await waiting).toBe('granted')
  })

  it('locks outlive a connection', async () => {
    await ask(b, 'write')
    network.cut()
    await until(() => !b.isConnected)
    network.heal()
    await until(() => b.isConnected)
    expect(await tryLock(a, 'write')).toBe('EAGAIN')
    expect(decodeHeldLocks(await b.ask({ type: 'locks' }))).toEqual([
      { ino, owner: 'o', kind: 'posix', start: 0, end: 99, mode: 'write', pid: 42 },
    ])
    expect(decodeHeldLocks(await a.ask({ type: 'locks' }))).toEqual([])
  })

  it('tells who is in the way; of a process of another session it does not tell the number', async () => {
    expect(await blocker(b, 'o')).toBe(undefined)
    await ask(a, 'read')
    expect(await blocker(a, 'o')).toBe(undefined)
    const lock = { kind: 'posix', start: 0, end: 99, mode: 'read' }
    expect(await blocker(a, 'other')).toEqual({ ...lock, pid: 42 })
    expect(await blocker(b, 'o')).toEqual({ ...lock, pid: 0 })
  })

  it('an unlock is done before a lock that is asked for behind it', async () => {
    for (let round = 0; round < 20; round++) {
      await ask(a, 'write')
      void ask(a, 'none')
      expect(await tryLock(a, 'write', { owner: 'p' })).toBe('granted')
      await ask(a, 'none', { owner: 'p' })
    }
  })

  it('many who want it at once get it one after the other', async () => {
    let inside = 0
    let most = 0
    const work = async (client: SessionClient, owner: string): Promise<void> => {
      await ask(client, 'write', { owner }, forever())
      most = Math.max(most, ++inside)
      await client.ask({ type: 'inodes', count: 1 })
      inside--
      await ask(client, 'none', { owner })
    }
    const workers = Array.from({ length: 20 }, (_, i) => work(i % 2 === 0 ? a : b, `w${i}`))
    await Promise.all(workers)
    expect(most).toBe(1)
    expect(await shared.locks.list(`${await workspaceId()}/main` as never)).toEqual([])
  })

  it('a session that only reads has none', async () => {
    await expect(ask(open(0, 'read'), 'read')).rejects.toMatchObject({ code: 'read_only' })
  })

  it('what is no lock is refused', async () => {
    await expect(ask(a, 'write', { start: 5, end: 4 })).rejects.toMatchObject({ code: 'malformed' })
    await expect(ask(a, 'write', { kind: 'x' as never })).rejects.toMatchObject({
      code: 'malformed',
    })
  })

  it('a file has a thousand locks at most', async () => {
    const locks = Array.from({ length: 1001 }, (_, i) =>
      tryLock(a, 'write', { start: 2 * i, end: 2 * i }),
    )
    const outcomes = await Promise.all(locks)
    expect(outcomes.filter((each) => each === 'ENOLCK')).toEqual(['ENOLCK'])
    expect(outcomes.at(-1)).toBe('ENOLCK')
  })

  const workspaceId = async (): Promise<string> => {
    const { text } = await call(servers[0]!, 'GET', '/w')
    return (JSON.parse(text) as { id: string }).id
  }
})
