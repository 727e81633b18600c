import type { Ino, IssuedToken } from '@cairn/protocol'
import { expect } from 'vitest'
import { call, type RunningServer, secret, SharedStores, startServer } from '../sessions/fixture.ts'
import { RawSession } from './raw-session.ts'

type Allow = readonly { readonly path: string; readonly operations: readonly string[] }[]

/** A server with a workspace `w`, attacked by the holders of narrow tokens. */
export class Site {
  readonly server: RunningServer
  readonly stores: SharedStores
  readonly #sessions: RawSession[] = []

  private constructor(server: RunningServer, stores: SharedStores) {
    this.server = server
    this.stores = stores
  }

  static async open(files: readonly string[], leaseMs = 1500): Promise<Site> {
    const stores = new SharedStores()
    const site = new Site(await startServer(stores, leaseMs), stores)
    await site.owner('POST', '', { name: 'w' })
    for (const path of files) await site.owner('PUT', `/w/files${path}`, `in ${path}`)
    return site
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.close()
    await this.server.close()
  }

  /** As the owner; fails the test if it is refused. */
  async owner(method: string, path: string, body?: object | string): Promise<string> {
    const text = typeof body === 'object' ? JSON.stringify(body) : body
    const answer = await call(this.server, method, path, text)
    expect(answer.status, `${method} ${path}: ${answer.text}`).toBeLessThan(300)
    return answer.text
  }

  readonly ownerHeaders = { authorization: `Bearer ${secret}` }

  /** Until the server has noticed that a token is over, and has ended what went on under it. */
  async untilEnded(key: string): Promise<void> {
    await expect.poll(() => this.#isOver(key)).toBe(true)
  }

  async #isOver(key: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${key}` }
    return (await fetch(`${this.server.url}/v1/workspaces`, { headers })).status === 401
  }

  async issue(allow: Allow, more: object = {}): Promise<string> {
    return (await this.issueToken(allow, more)).secret
  }

  async issueToken(allow: Allow, more: object = {}): Promise<IssuedToken> {
    const body = { name: 't', ttlMs: 600_000, allow, ...more }
    return JSON.parse(await this.owner('POST', '/w/tokens', body)) as IssuedToken
  }

  async session(
    key: string,
    hello: Parameters<typeof RawSession.open>[2] = {},
  ): Promise<RawSession> {
    const session = await RawSession.open(this.server, key, hello)
    this.#sessions.push(session)
    return session
  }

  async ino(path: string): Promise<Ino> {
    const stat = JSON.parse(await this.owner('GET', `/w/files${path}?stat`)) as { ino: number }
    return stat.ino as Ino
  }

  read(path: string): Promise<string> {
    return this.owner('GET', `/w/files${path}`)
  }

  /** On their way to `main`, where something limits it. */
  async arrivingBytes(): Promise<number> {
    const workspace = await this.server.workspaces.open('owner_1', 'w')
    return workspace.arriving.of(`branch ${(await workspace.branch('main')).id}`)
  }

  /** Ids of the layers that the owner finds. */
  async layers(): Promise<readonly string[]> {
    const list = JSON.parse(await this.owner('GET', '/w/layers')) as { items: { id: string }[] }
    return list.items.map(({ id }) => id)
  }
}
