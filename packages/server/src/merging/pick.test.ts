import type { PickReceipt } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { cutAppend, cutOnce } from '../../test/cut-once.ts'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
  for (const name of ['a', 'b', 'c']) await fixture.create({ name })
  await fixture.write('/repo/a.txt', 'best\n', 'b')
})

afterEach(() => vi.restoreAllMocks())

const pick = (key?: string): ReturnType<typeof fixture.post<PickReceipt>> =>
  fixture.post<PickReceipt>('/b/pick', { message: 'best' }, key)

const states = (): Promise<string[]> =>
  Promise.all(['a', 'b', 'c'].map(async (name) => (await fixture.status(name)).state))

describe('pick', () => {
  it('commits one and abandons its rivals, but no other layer', async () => {
    await fixture.create({ name: 'elsewhere', path: '/other' })
    const { commit, abandoned } = await ok(pick())
    expect([commit.message, abandoned.length]).toEqual(['best', 2])
    expect(await states()).toEqual(['abandoned', 'committed', 'abandoned'])
    expect((await fixture.status('elsewhere')).state).toBe('open')
  })

  it('a committed rival whose commit was not recorded is left as it is', async () => {
    cutOnce(MemoryLayerStore, 'update')
    expect((await refused(fixture.post('/a/commit'))).code).toBe('storage_unavailable')
    const { abandoned } = await ok(pick())
    expect(abandoned).toHaveLength(1)
    expect(await states()).toEqual(['committed', 'committed', 'abandoned'])
  })

  it('cut between two rivals and asked for again under its key, it is done and tells of both', async () => {
    let abandoned = 0
    cutAppend(({ body }) => body.type === 'state' && body.state === 'abandoned' && ++abandoned > 1)
    expect((await refused(pick('k'))).code).toBe('storage_unavailable')
    expect(await states()).toEqual(['abandoned', 'committed', 'open'])
    await fixture.create({ name: 'late' })
    const receipt = await ok(pick('k'))
    expect(receipt.abandoned).toHaveLength(2)
    expect(await states()).toEqual(['abandoned', 'committed', 'abandoned'])
    expect((await fixture.status('late')).state).toBe('open')
    expect(await ok(pick('k'))).toEqual(receipt)
  })

  it('cut before the layer is closed, and written to: its rivals are those of what was committed', async () => {
    cutAppend(({ body }) => body.type === 'state')
    expect((await refused(pick('k'))).code).toBe('storage_unavailable')
    await fixture.write('/repo/late.txt', 'late\n', 'b')
    const { commit, abandoned } = await ok(pick('k'))
    expect(commit.paths.map(({ path }) => path)).toEqual(['/repo/a.txt'])
    expect(abandoned).toHaveLength(2)
    expect(await states()).toEqual(['abandoned', 'open', 'abandoned'])
  })
})
