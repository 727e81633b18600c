import type { LayerStatus, WorkspaceInfo } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../ports/clock.ts'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

function setQuota(body: object): Promise<WorkspaceInfo> {
  return ok(fixture.server.call<WorkspaceInfo>('PATCH', '/w', body))
}

const kilobyte = 'x'.repeat(1000)

describe('the quota of a workspace', () => {
  it('the quota of a workspace is shown with what main has used', async () => {
    await setQuota({ maxBytes: 5000, maxFiles: 10 })
    const info = await ok(fixture.server.call<WorkspaceInfo>('GET', '/w'))
    expect(info).toMatchObject({
      quota: { maxBytes: 5000, maxFiles: 10 },
      used: { bytes: 8, files: 3 },
    })
    const { json } = await fixture.server.call<{ items: WorkspaceInfo[] }>('GET', '')
    expect(json.items[0]!.quota).toEqual({ maxBytes: 5000, maxFiles: 10 })
  })

  it('a byte quota takes what fits to the last byte; one byte more is refused and changes nothing', async () => {
    await setQuota({ maxBytes: 1008 })
    await ok(fixture.write('/c.txt', kilobyte))
    const error = await refused(fixture.write('/d.txt', 'y'))
    expect(error).toMatchObject({ code: 'quota_exceeded', errno: 'EDQUOT' })
    expect(error.message).toContain('the tree would hold 1009 bytes, and its quota is 1008')
    expect(await fixture.read('/d.txt')).toBeUndefined()
    expect((await fixture.write('/d.txt', 'y')).status).toBe(507)
  })

  it('a file quota counts directories and empty files', async () => {
    await setQuota({ maxFiles: 5 })
    await ok(fixture.write('/new/empty', ''))
    expect((await refused(fixture.write('/one-more', ''))).code).toBe('quota_exceeded')
  })

  it('lets go and overwrite what is there', async () => {
    await ok(fixture.write('/c.txt', kilobyte))
    await setQuota({ maxBytes: 100 })
    expect((await refused(fixture.write('/d.txt', 'y'))).code).toBe('quota_exceeded')
    await ok(fixture.write('/c.txt', 'x'.repeat(500)))
    await ok(fixture.server.call('DELETE', '/w/files/c.txt'))
    await ok(fixture.write('/d.txt', 'y'))
  })

  it('the quota of a workspace that is taken away limits nothing', async () => {
    await setQuota({ maxBytes: 10, maxFiles: 3 })
    await refused(fixture.write('/c.txt', kilobyte))
    expect(await setQuota({ maxBytes: null })).toMatchObject({ quota: { maxFiles: 3 } })
    expect(await setQuota({ maxFiles: null })).not.toHaveProperty('quota')
    await ok(fixture.write('/c.txt', kilobyte))
  })

  it('holds for layers, for their commits, and on another server', async () => {
    await fixture.create({ name: 'a' })
    await ok(fixture.write('/repo/c.txt', kilobyte, 'a'))
    await setQuota({ maxBytes: 500 })
    expect((await refused(fixture.write('/repo/d.txt', 'y', 'a'))).code).toBe('quota_exceeded')
    expect((await refused(fixture.post('/a/commit'))).code).toBe('quota_exceeded')
    expect(await fixture.read('/repo/c.txt')).toBeUndefined()
    const there = fixture.other.call('PUT', '/w/files/e.txt', kilobyte)
    expect((await refused(there)).code).toBe('quota_exceeded')
    await setQuota({ maxBytes: 5000 })
    await ok(fixture.post('/a/commit'))
  })
})

describe('the quota of a layer', () => {
  it('the quota of a layer is what it may add to its base', async () => {
    await ok(fixture.write('/repo/big', kilobyte))
    await fixture.create({ name: 'a', maxBytes: 100, maxFiles: 1 })
    await ok(fixture.write('/repo/c.txt', 'y'.repeat(100), 'a'))
    expect((await refused(fixture.write('/repo/c.txt', 'y'.repeat(101), 'a'))).code).toBe(
      'quota_exceeded',
    )
    expect((await refused(fixture.write('/repo/d.txt', '', 'a'))).code).toBe('quota_exceeded')
    await ok(fixture.write('/repo/d.txt', kilobyte))
    const status: LayerStatus = await fixture.status('a')
    expect(status).toMatchObject({
      quota: { maxBytes: 100, maxFiles: 1 },
      used: { bytes: 100, files: 1 },
    })
  })

  it('the quota of a layer can be changed, and a rebase does not use it up', async () => {
    await fixture.create({ name: 'a', maxBytes: 100 })
    await ok(fixture.write('/repo/c.txt', 'y'.repeat(90), 'a'))
    await ok(fixture.write('/repo/big', kilobyte))
    await ok(fixture.post('/a/rebase'))
    expect(await fixture.status('a')).toMatchObject({ used: { bytes: 90, files: 1 } })
    await refused(fixture.write('/repo/d.txt', 'y'.repeat(20), 'a'))
    await ok(fixture.server.call('PATCH', '/w/layers/a', { maxBytes: 200 }))
    await ok(fixture.write('/repo/d.txt', 'y'.repeat(20), 'a'))
  })
})

describe('the quota of a layer after a rebase', () => {
  it('counts from the new base at once', async () => {
    const clock = systemClock()
    fixture = new LayerFixture({ ...clock, nowMs: () => 0 })
    await fixture.fill()
    await ok(fixture.write('/repo/big', kilobyte))
    await fixture.create({ name: 'a', maxBytes: 100 })
    await ok(fixture.write('/repo/c.txt', 'y'.repeat(50), 'a'))
    await ok(fixture.server.call('DELETE', '/w/files/repo/big'))
    await ok(fixture.post('/a/rebase'))
    expect((await refused(fixture.write('/repo/d.txt', 'y'.repeat(60), 'a'))).code).toBe(
      'quota_exceeded',
    )
  })
})

describe('rollback', () => {
  it('before a tool call: what the shell wrote and made since is gone, what it deleted is back', async () => {
    await fixture.create({ name: 'a' })
    await ok(fixture.write('/repo/node_modules/dep.js', 'dep', 'a'))
    await ok(fixture.post('/a/checkpoints', { toolCall: 'call_7' }))
    await ok(fixture.post('/a/checkpoints', { label: 'call_7' }))
    await ok(fixture.write('/repo/untracked', 'new', 'a'))
    await ok(fixture.server.call('DELETE', '/w/files/repo/node_modules?recursive&layer=a'))
    await ok(fixture.post('/a/rollback', { beforeToolCall: 'call_7' }))
    expect(await fixture.read('/repo/node_modules/dep.js', 'layer=a')).toBe('dep')
    expect(await fixture.read('/repo/untracked', 'layer=a')).toBeUndefined()
    const error = await refused(fixture.post('/a/rollback', { beforeToolCall: 'call_8' }))
    expect(error.code).toBe('checkpoint_missing')
  })
})
