// Messages of a few bytes, or of many, that a session sends without waiting for anything.
import { setTimeout } from 'node:timers/promises'
import { type BranchId, encodeInos, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createFile, secret, until } from '../sessions/fixture.ts'
import { Site } from './site.ts'

let site: Site
beforeEach(async () => {
  site = await Site.open(['/src/a', '/drop/b'], 60_000)
})
afterEach(() => site.close())

const allow = [{ path: '/drop', operations: ['read', 'list', 'write'] }]
const mainBranch = async (): Promise<BranchId> => {
  const workspace = await site.server.workspaces.open('owner_1', 'w')
  return (await workspace.branch('main')).id
}

it('20,000 renewals: others who need the lease do not stand behind them', async () => {
  const flood = await site.session(await site.issue(allow))
  const epoch = await flood.leaseEpoch()
  const { leases } = site.stores
  const get = leases.get.bind(leases)
  leases.get = async (branch) => {
    await setTimeout(1)
    return get(branch)
  }
  const version = async (): Promise<number> => (await leases.get(await mainBranch()))!.version
  const before = await version()
  for (let at = 0; at < 20_000; at++) flood.send({ type: 'renew' })
  const written = site.owner('PUT', '/w/files/src/a', 'x')
  await flood.hears('recall')
  flood.send({ type: 'released', epoch })
  // What was written to the lease record until the holder was asked.
  expect((await version()) - before).toBeLessThan(5000)
  flood.close()
  await written
})

it.each(['look', 'claim', 'hold'] as const)(
  'a %s with a million numbers: not read, and the session ends',
  async (type) => {
    const session = await site.session(secret, { mode: 'share' })
    const inos = Array.from({ length: 1_000_000 }, () => rootIno)
    if (type === 'hold') session.send({ type, inos: encodeInos(inos) })
    else session.send({ type, id: 1, inos })
    expect((await session.hears('goodbye')).code).toBe('malformed')
  },
)

it('1,000 looks that wait for a holder: one writer more in the lease record', async () => {
  const holder = await site.session(secret)
  const epoch = await holder.leaseEpoch()
  const other = await site.session(await site.issue(allow), { mode: 'share' })
  const drop = await site.ino('/drop')
  const looks = Array.from({ length: 1000 }, () => other.ask({ type: 'look', inos: [drop] }))
  await holder.hears('recall')
  const record = await site.stores.leases.get(await mainBranch())
  expect(record!.writers.length).toBeLessThanOrEqual(3)
  holder.send({ type: 'released', epoch })
  await Promise.all(looks)
})

it('120 MiB of content at once: all of it is stored, and others are answered meanwhile', async () => {
  const flood = await site.session(secret)
  const epoch = await flood.leaseEpoch()
  const blobs = Array.from({ length: 480 }, (_, at) =>
    flood.ask({ type: 'blob', bytes: new Uint8Array(256 << 10).fill(at % 250).fill(at, 0, 9) }),
  )
  const reader = await site.session(secret, { mode: 'read' })
  await reader.ask({ type: 'inode', ino: await site.ino('/src/a') })
  await Promise.all(blobs)
  expect(await flood.submit(epoch, createFile('after', await flood.inodes(1)))).toBe('done')
  await until(() => reader.heard.some(({ type }) => type === 'batch'))
})
