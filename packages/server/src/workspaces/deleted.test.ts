import type { DeletedWorkspace, Page, WorkspaceDeletion, WorkspaceInfo } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { ok, refused } from '../../test/layer-fixture.ts'
import { type MemoryServer, memoryServers } from '../testing/memory-servers.ts'
import { systemClock } from '../ports/clock.ts'

const dayMs = 24 * 60 * 60 * 1000

describe('workspaces that are deleted or renamed', () => {
  let server: MemoryServer
  let other: MemoryServer
  let aheadMs = 0

  const restore = (name: string, body: object = {}): ReturnType<MemoryServer['call']> =>
    server.call('POST', `/${name}/restore`, body)
  const read = async (name: string): Promise<string> =>
    (await server.call('GET', `/${name}/files/a.txt`)).body

  beforeEach(async () => {
    aheadMs = 0
    const clock = systemClock()
    const servers = memoryServers({ ...clock, nowMs: () => clock.nowMs() + aheadMs })
    ;[server, other] = [servers.open(), servers.open()]
    await ok(server.call('POST', '', { name: 'w' }))
    await ok(server.call('PUT', '/w/files/a.txt', 'one'))
  })

  it('a deletion states its end and the forks that stay', async () => {
    await ok(server.call('POST', '/w/fork', { name: 'w2' }))
    const { deletedAt, expiresAt, forks } = await ok(server.call<WorkspaceDeletion>('DELETE', '/w'))
    const days = (Date.parse(expiresAt) - Date.parse(deletedAt)) / dayMs
    expect([Math.round(days), forks]).toEqual([7, ['w2']])
    const { items } = await ok(server.call<Page<DeletedWorkspace>>('GET', '?deleted'))
    expect(items).toMatchObject([{ name: 'w', deletedAt, expiresAt }])
  })

  it('a restored workspace comes back with files, history and layers, and is the same workspace', async () => {
    await ok(server.call('POST', '/w/layers', { path: '/', name: 'try' }))
    await ok(server.call('PUT', '/w/files/a.txt?layer=try', 'two'))
    const { id } = await ok(server.call<WorkspaceDeletion>('DELETE', '/w'))
    expect(await ok(restore('w'))).toMatchObject({ id, name: 'w', used: { files: 1, bytes: 3 } })
    expect(await read('w')).toBe('one')
    expect((await server.call('GET', '/w/files/a.txt?layer=try')).body).toBe('two')
    await ok(server.call('PUT', '/w/files/a.txt', 'three'))
    expect((await other.call('GET', '/w/files/a.txt')).body).toBe('three')
    expect(await refused(restore('w'))).toMatchObject({ code: 'workspace_missing' })
  })

  it('where another has its name, it comes back under a new one', async () => {
    const { id } = await ok(server.call<WorkspaceDeletion>('DELETE', '/w'))
    await ok(server.call('POST', '', { name: 'w' }))
    expect(await refused(restore('w'))).toMatchObject({ code: 'workspace_exists' })
    expect(await ok(restore(id, { name: 'old' }))).toMatchObject({ id, name: 'old' })
    expect(await read('old')).toBe('one')
    expect((await server.call('GET', '/w/files/a.txt')).status).toBe(404)
  })

  it('after a week it cannot come back', async () => {
    await ok(server.call('DELETE', '/w'))
    aheadMs = 7 * dayMs
    expect(await refused(restore('w'))).toMatchObject({ code: 'workspace_missing' })
    const { items } = await ok(server.call<Page<DeletedWorkspace>>('GET', '?deleted'))
    expect(items).toEqual([])
  })

  it('a new name is the only one, on other servers within a second', async () => {
    await ok(other.call('GET', '/w'))
    const { id } = await ok(server.call<WorkspaceInfo>('PATCH', '/w', { name: 'shop' }))
    expect((await server.call('GET', '/w')).status).toBe(404)
    expect(await ok(server.call('GET', `/${id}`))).toMatchObject({ name: 'shop' })
    aheadMs = 1000
    expect((await other.call('GET', '/w')).status).toBe(404)
    expect(await ok(other.call('GET', `/shop`))).toMatchObject({ id, name: 'shop' })
    await ok(server.call('POST', '', { name: 'w' }))
    const taken = await refused(server.call('PATCH', '/shop', { name: 'w', maxFiles: 1 }))
    expect(taken).toMatchObject({ code: 'workspace_exists' })
  })
})
