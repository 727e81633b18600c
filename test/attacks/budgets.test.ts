// The lease holder acknowledges before the server has seen a write. It is held to its share of the
// room all the same.
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

  it('that writes more than its budget: refused, and not charged', async () => {
    const issued = await site.issueToken(allow, { maxBytes: 10 })
    const holder = await site.session(issued.secret)
    const epoch = await holder.leaseEpoch()
    expect(await write(holder, epoch, 100_000)).toBe('quota_exceeded')
    expect(await write(holder, epoch, 19)).toBe('done')
    expect(await write(holder, epoch, 20)).toBe('quota_exceeded')
    const { used } = JSON.parse(await site.owner('GET', `/w/tokens/${issued.id}`)) as typeof issued
    expect(used!.bytes).toBe(10)
  })

  it('that sends many batches at once: all of them together stay within its budget', async () => {
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

  it('that ignores a recall, and writes more than the quota: refused, also over a new connection', async () => {
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

  it('that is asked to hand over by a write under its own token: both go through', async () => {
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

  it('beside another session of the token on a layer: each is told a part, and both together stay within the budget', async () => {
    await site.owner('POST', '/w/layers', { id: 'side' })
    const issued = await site.issueToken(allow, { maxBytes: 1000 })
    const [first, second] = [await site.session(issued.secret), await side(issued.secret)]
    await second.leaseEpoch()
    const told = second.heard.findLast(({ type }) => type === 'room')
    expect(told).toMatchObject({ bytes: 500 })
    // Asked to hand over, an honest holder is told of its part.
    first.send({ type: 'released', epoch: await first.leaseEpoch() })
    await first.hears('room', ({ bytes }) => bytes === 500)

    const outcomes = await Promise.all(
      [first, second].map((session) => write(session, session.standingEpoch!, 900)),
    )
    const { used } = JSON.parse(await site.owner('GET', `/w/tokens/${issued.id}`)) as typeof issued
    expect(outcomes.filter((outcome) => outcome === 'done').length).toBeLessThan(2)
    expect(used!.bytes).toBeLessThanOrEqual(1000)
  })

  it('that ignores its part: what the other session has used is refused where its batch is planned', async () => {
    await site.owner('POST', '/w/layers', { id: 'side' })
    const issued = await site.issueToken(allow, { maxBytes: 1000 })
    const first = await site.session(issued.secret)
    const epoch = await first.leaseEpoch()
    const second = await side(issued.secret)
    expect(await write(second, await second.leaseEpoch(), 450)).toBe('done')
    expect(await write(first, epoch, 900)).toBe('quota_exceeded')
    expect(await write(first, epoch, 400)).toBe('done')
    const { used } = JSON.parse(await site.owner('GET', `/w/tokens/${issued.id}`)) as typeof issued
    expect(used!.bytes).toBeLessThanOrEqual(1000)
  })

  const side = (key: string): Promise<RawSession> => site.session(key, { branch: 'side' })
})
