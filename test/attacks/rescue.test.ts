// A rescue brings in what was acknowledged under a lost lease. It is no way around a token.
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createFile, secret, writeBytes } from '../sessions/fixture.ts'
import { bodyOf, type RawSession } from './raw-session.ts'
import { Site } from './site.ts'

const everything = ['read', 'list', 'write', 'delete']
const allow = [{ path: '/src', operations: everything }]

describe('rescue', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open(['/src/a', '/hidden/h'], 300)
  })
  afterEach(() => site.close())

  /** Gets the lease and is cut off; an owner's write then ends its epoch. */
  const loseLease = async (key: string): Promise<{ id: string; epoch: number }> => {
    const holder = await site.session(key)
    const epoch = await holder.leaseEpoch()
    const { id } = holder
    holder.close()
    await site.owner('PUT', '/w/files/other', 'x')
    return { id, epoch }
  }
  const rescue = async (
    session: RawSession,
    epoch: number,
    ...ops: Parameters<typeof bodyOf>[0]
  ): Promise<string> => {
    const late = { type: 'rescue', number: 1, epoch, body: bodyOf(ops) } as const
    const outcome = await session.tries(late)
    if (outcome !== 'done') return outcome
    const end = { type: 'rescue', number: 0, epoch, body: new Uint8Array() } as const
    return new TextDecoder().decode(await session.ask(end)).split(' ')[0]!
  }

  it('a rescue of a file that has left the scope writes nothing there, and the owner gets a layer', async () => {
    const key = await site.issue(allow)
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(key)]
    await site.owner('POST', '/w/files/src/a?move', { to: '/hidden/a' })
    const back = await site.session(key, { session: id })
    expect(await rescue(back, epoch, writeBytes(a, 'stolen'))).toBe('kept')
    expect(await site.read('/hidden/a')).toBe('in /src/a')
    const [layer] = await site.layers()
    expect(await site.read(`/src/a?layer=${layer}`)).toMatch(/^stolen/)
  })

  it('a rescue in scope is committed', async () => {
    const key = await site.issue(allow)
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(key)]
    const back = await site.session(key, { session: id })
    expect(await rescue(back, epoch, writeBytes(a, 'mine'))).toBe('committed')
    expect(await site.read('/src/a')).toMatch(/^mine/)
  })

  it('a rescue by a session that never held the epoch is refused without a layer', async () => {
    const key = await site.issue(allow)
    const a = await site.ino('/src/a')
    const { epoch } = await loseLease(secret)
    const session = await site.session(key)
    expect(await rescue(session, epoch, writeBytes(a, 'x'))).toBe('forbidden')
    expect(await rescue(session, 1, writeBytes(a, 'x'))).toBe('forbidden')
    expect(await site.layers()).toEqual([])
  })

  it('a rescue that would end the epoch of other sessions is refused, and the epoch goes on', async () => {
    await site.close()
    // No session may be passed over here.
    site = await Site.open(['/src/a'], 60_000)
    const [one, two] = [await site.session(secret), await site.session(secret)]
    const { epoch } = await one.hears('recall')
    one.send({ type: 'released', epoch })
    await two.hears('shared')
    const stranger = await site.session(await site.issue(allow))
    expect(await rescue(stranger, epoch)).toBe('forbidden')
    expect(await two.submit(epoch, createFile('f', 5001))).toBe('done')
  })

  it('a rescue by a session that only reads is refused without a layer', async () => {
    const key = await site.issue(allow)
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(key)]
    const reader = await site.session(key, { session: id, mode: 'read' })
    expect(await rescue(reader, epoch, writeBytes(a, 'x'))).toBe('read_only')
    expect(await site.layers()).toEqual([])
  })

  it('a rescue by a token that only reads is refused without a layer', async () => {
    const key = await site.issue([{ path: '/src', operations: ['read', 'list'] }])
    const { epoch } = await loseLease(secret)
    const reader = await site.session(key, { mode: 'read' })
    const a = await site.ino('/src/a')
    expect(await rescue(reader, epoch, writeBytes(a, 'x'))).toBe('read_only')
    expect(await site.layers()).toEqual([])
  })

  it('a rescue beyond the budget is kept in a layer and charged', async () => {
    const issued = await site.issueToken(allow, { maxBytes: 20 })
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(issued.secret)]
    const back = await site.session(issued.secret, { session: id })
    const outcome = await rescue(back, epoch, writeBytes(a, 'x'.repeat(39)))
    expect(outcome).toBe('kept')
    expect(await site.read('/src/a')).toBe('in /src/a')
    const { used } = JSON.parse(await site.owner('GET', `/w/tokens/${issued.id}`)) as typeof issued
    expect(used!.bytes).toBeGreaterThan(20)
    expect(await rescue(back, epoch, writeBytes(a, 'y'.repeat(60)))).not.toBe('committed')
  })

  it('a rescue beyond twice the budget is refused', async () => {
    const key = await site.issue(allow, { maxBytes: 20 })
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(key)]
    const back = await site.session(key, { session: id })
    expect(await rescue(back, epoch, writeBytes(a, 'x'.repeat(100_000)))).toBe('quota_exceeded')
  })

  it('a rescue beyond the free quota is kept in a layer; beyond the whole quota it is refused', async () => {
    const key = await site.issue(allow)
    const [a, { id, epoch }] = [await site.ino('/src/a'), await loseLease(key)]
    await site.owner('PATCH', '/w', { maxBytes: 100 })
    const back = await site.session(key, { session: id })
    expect(await rescue(back, epoch, writeBytes(a, 'x'.repeat(100_000)))).toBe('quota_exceeded')
    expect(await rescue(back, epoch, writeBytes(a, 'x'.repeat(99)))).toBe('kept')
    expect(await site.read('/src/a')).toBe('in /src/a')
  })
})
