// The lease holder acknowledges before the server has seen a write. It is held to its share of the
// room all the same.
import type { SessionReply } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFile, secret, writeBytes } from '../sessions/fixture.ts'
import type { RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const allow = [{ path: '/src', operations: ['read', 'list', 'write', 'delete'] }]

describe('a holder of the lease', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open(['/src/a'], 60_000)
  })
  afterEach(() => site.close())

  const write = async (session: RawSession, epoch: number, bytes: number): Promise<string> =>
    session.submit(epoch, writeBytes(await site.ino('/src/a'), 'x'.repeat(bytes)))

  it('a holder of the lease that writes more than its budget: refused, and not charged', async () => {
    const issued = await site.issueToken(allow, { maxBytes: 10 })
    const holder = await site.session(issued.secret)
    const epoch = await holder.leaseEpoch()
    expect(await write(holder, epoch, 100_000)).toBe('quota_exceeded')
    expect(await write(holder, epoch, 19)).toBe('done')
    expect(await write(holder, epoch, 20)).toBe('quota_exceeded')
    const { used } = JSON.parse(await site.owner('GET', `/w/tokens/${issued.id}`)) as typeof issued
    expect(used!.bytes).toBe(10)
  })

  it('a holder of the lease that sends many batches at once: all of them together stay within its budget', async () => {
    const holder = await site.session(await site.issue(allow, { maxFiles: 3 }))
    const [epoch, parent] = [await holder.leaseEpoch(), await site.ino('/src')]
    const first = await holder.inodes(8)
    const outcomes = await Promise.all(
      Array.from({ length: 8 }, (_, at) =>
        holder.submit(epoch, createFile(`f${at}`, first + at, parent)),
      ),
    )
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBe(3)
  })

  it('a holder of the lease that ignores a recall, and writes more than the quota: refused, also over a new connection', async () => {
    await site.owner('PATCH', '/w', { maxBytes: 1000 })
    const holder = await site.session(secret)
    const epoch = await holder.leaseEpoch()
    const other = await site.session(secret)
    await holder.hears('recall')
    expect(await write(holder, epoch, 1_000_000)).toBe('quota_exceeded')
    const { id } = holder
    holder.close()
    const again = await site.session(secret, { session: id })
    expect(await write(again, epoch, 1_000_000)).toBe('quota_exceeded')
    // What fits is still taken.
    expect(await again.submit(epoch, createFile('f', 5001))).toBe('done')
    again.send({ type: 'released', epoch })
    await other.hears('shared')
  })

  it('a holder of the lease that is asked to hand over by a write under its own token: both go through', async () => {
    const key = await site.issue(allow, { maxBytes: 1000 })
    const holder = await site.session(key)
    const epoch = await holder.leaseEpoch()
    const put = fetch(`${site.server.url}/v1/workspaces/w/files/src/b`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${key}` },
      body: 'b',
    })
    await holder.hears('recall')
    const [parent, ino] = [await site.ino('/src'), await holder.inodes(1)]
    expect(await holder.submit(epoch, createFile('f', ino, parent))).toBe('done')
    holder.send({ type: 'released', epoch })
    expect((await put).status).toBe(201)
  })

  it('beside another session of the token on a layer: each gets a share, and both together stay within the budget', async () => {
    const { first, second, used } = await sharing()
    expect(first.heard.findLast(isShare)).toMatchObject({ bytes: 1000 })
    expect(await write(second, second.standingEpoch!, 400)).toBe('done')
    const shares = await Promise.all(
      [first, second].map((session) =>
        session.hears('share', ({ id, bytes }) => id === 0 && bytes > 0 && bytes < 600),
      ),
    )
    expect(shares[0]!.bytes + shares[1]!.bytes).toBeLessThanOrEqual(600)
    const outcomes = await Promise.all(
      [first, second].map((session) => write(session, session.standingEpoch!, 1100)),
    )
    expect(outcomes).toEqual(['quota_exceeded', 'quota_exceeded'])
    expect(await used()).toBeLessThanOrEqual(400)
  })

  it('a holder of the lease that says it gave its share back, and did not: what the other session has used is refused', async () => {
    const { first, second, used } = await sharing()
    expect(await write(second, second.standingEpoch!, 450)).toBe('done')
    expect(await write(first, first.standingEpoch!, 900)).toBe('quota_exceeded')
    expect(await write(first, first.standingEpoch!, 400)).toBe('done')
    expect(await used()).toBeLessThanOrEqual(850)
  })

  it('a holder of the lease that does not answer when its share is asked back: loses its lease', async () => {
    const { first, second } = await sharing()
    first.obeys = false
    const writing = write(second, second.standingEpoch!, 450)
    const { epoch } = await first.hears('recall')
    first.send({ type: 'released', epoch })
    expect(await writing).toBe('done')
  })

  const isShare = ({ type }: SessionReply): boolean => type === 'share'

  /** Two sessions of one token with a budget of 1000 bytes: on `main`, which had all of it first, and on a layer. */
  async function sharing(): Promise<{
    readonly first: RawSession
    readonly second: RawSession
    readonly used: () => Promise<number>
  }> {
    await site.owner('POST', '/w/layers', { id: 'side' })
    const issued = await site.issueToken(allow, { maxBytes: 1000 })
    const open = async (branch: string): Promise<RawSession> => {
      const session = await site.session(issued.secret, { branch, mode: 'share' })
      session.obeys = true
      await session.leaseEpoch()
      return session
    }
    const used = async (): Promise<number> => {
      const token = await site.owner('GET', `/w/tokens/${issued.id}`)
      return (JSON.parse(token) as typeof issued).used!.bytes
    }
    return { first: await open('main'), second: await open('side'), used }
  }
})
