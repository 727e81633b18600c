// What mounts read first, for the next mount of the directory: it is kept, filtered and sent ahead.
import { decodeAheadAnswer, type SessionClient } from '@cairn/mount'
import {
  encodeTrace,
  type Ino,
  type IssuedToken,
  rootIno,
  type Trace,
  type TraceItem,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { call, type RunningServer, SharedStores, until } from './fixture.ts'
import { useSessions } from './use-sessions.ts'

const shared = ['/src/a', '/src/secret/k', '/hidden/h', '/listed/l']
const { openSession, startServer } = useSessions()

interface Ahead {
  readonly next: number
  /** By name of the first entry: each directory here has one. */
  readonly listed: readonly string[]
  readonly texts: readonly string[]
}

describe('what earlier mounts read', () => {
  let stores: SharedStores
  let server: RunningServer
  const inos = new Map<string, Ino>()

  const owner = async (method: string, path: string, body?: object | string): Promise<string> => {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const answer = await call(server, method, path, text)
    expect(answer.status, answer.text).toBeLessThan(300)
    return answer.text
  }
  const names = (path: string): TraceItem => ({ ino: inos.get(path)!, block: undefined })
  const block = (path: string, at = 0): TraceItem => ({ ino: inos.get(path)!, block: at })

  const note = async (trace: Trace, session: SessionClient, ino = rootIno): Promise<void> => {
    await session.welcomed
    session.wire!.send({ type: 'trace', ino, bytes: encodeTrace(trace) })
    // Behind it in the order of this connection, and asked of the store.
    await session.ask({ type: 'barrier', seq: session.seq })
  }
  const ahead = async (session: SessionClient, from = 0, bytes = 1 << 20): Promise<Ahead> => {
    const answer = await session.ask({ type: 'ahead', ino: rootIno, from, bytes })
    const { next, directories, pieces } = decodeAheadAnswer(answer)
    return {
      next,
      listed: directories.flatMap(({ entries }) => entries.map(({ name }) => name)),
      texts: pieces.map(({ bytes: read }) => new TextDecoder().decode(read)),
    }
  }
  const noted = (session: SessionClient): Promise<void> =>
    until(async () => (await ahead(session)).texts.length > 0)

  beforeEach(async () => {
    stores = new SharedStores()
    server = await startServer(stores, 10_000)
    await owner('POST', '', { name: 'w' })
    for (const path of shared) await owner('PUT', `/w/files${path}`, `in ${path}`)
    for (const line of (await owner('GET', '/w/files/?list&recursive')).trim().split('\n')) {
      const { path, ino } = JSON.parse(line) as { path: string; ino: number }
      inos.set(path, ino as Ino)
    }
  })

  it('what earlier mounts read is sent with names and bytes; newer items come first, and what is gone is left out', async () => {
    const session = openSession(server)
    await note([names('/src'), block('/src/a')], session)
    const gone = { ino: 9999 as Ino, block: 0 }
    await note([gone, block('/hidden/h'), block('/hidden/h', 7)], session)
    await until(async () => (await ahead(session)).texts.length === 2)
    expect(await ahead(session)).toEqual({
      next: 0,
      listed: ['a', 'secret'],
      texts: ['in /hidden/h', 'in /src/a'],
    })
    await owner('DELETE', '/w/files/hidden/h')
    expect((await ahead(session)).texts).toEqual(['in /src/a'])
  })

  it('what earlier mounts read is found in a layer, and what a layer reads is found on main', async () => {
    const main = openSession(server)
    await note([block('/src/a')], main)
    await noted(main)
    await main.close()
    await owner('POST', '/w/layers', { name: 'attempt' })
    const layer = openSession(server, { branch: 'attempt' })
    await layer.welcomed
    expect((await ahead(layer)).texts).toEqual(['in /src/a'])
    await note([block('/listed/l')], layer)
    const again = openSession(server)
    await again.welcomed
    await until(async () => (await ahead(again)).texts.length === 2)
  })

  it('goes to a token as far as it may list and read', async () => {
    const session = openSession(server)
    await note(
      [
        ...['/src', '/src/secret', '/hidden', '/listed'].map(names),
        ...['/src/secret/k', '/hidden/h', '/listed/l', '/src/a'].map((path) => block(path)),
      ],
      session,
    )
    await noted(session)
    await session.close()
    const allow = [
      { path: '/src', operations: ['read', 'list', 'write'] },
      { path: '/listed', operations: ['list'] },
    ]
    const body = { name: 't', ttlMs: 60_000, allow, deny: ['/src/secret'] }
    const { secret } = JSON.parse(await owner('POST', '/w/tokens', body)) as IssuedToken
    const token = openSession(server, { key: secret })
    await token.welcomed
    expect(await ahead(token)).toEqual({ next: 0, listed: ['a', 'l'], texts: ['in /src/a'] })
  })

  it('what earlier mounts read is not taken from a session that only reads', async () => {
    const reader = openSession(server, { mode: 'read' })
    await note([block('/src/a')], reader)
    const writer = openSession(server)
    await note([block('/listed/l')], writer)
    await noted(writer)
    expect((await ahead(writer)).texts).toEqual(['in /listed/l'])
  })

  it('comes in answers of about as many bytes as were asked for, one item at least', async () => {
    const session = openSession(server)
    await note([names('/src'), block('/src/a'), block('/listed/l')], session)
    await noted(session)
    expect(await ahead(session, 0, 1)).toEqual({ next: 1, listed: ['a', 'secret'], texts: [] })
    expect(await ahead(session, 1, 1)).toEqual({ next: 2, listed: [], texts: ['in /src/a'] })
    expect(await ahead(session, 2, 1)).toEqual({ next: 0, listed: [], texts: ['in /listed/l'] })
    expect(await ahead(session, 99)).toEqual({ next: 0, listed: [], texts: [] })
  })
})
