import type { LayerInfo, Page, PickReceipt, RootReceipt } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

it.each(['rollback', 'undo', 'rebase'])('the receipt of a %s says who, and when', async (verb) => {
  await fixture.create({ name: 'a' })
  await fixture.write('/repo/a.txt', 'x', 'a')
  if (verb === 'undo') await ok(fixture.post('/a/rollback'))
  const before = new Date().toISOString()
  const receipt = await ok(fixture.post<RootReceipt>(`/a/${verb}`, {}, 'k'))
  expect(receipt.actor).toBe('key_1')
  expect(receipt.time >= before && receipt.time <= new Date().toISOString()).toBe(true)
  expect(await ok(fixture.post(`/a/${verb}`, {}, 'k'))).toEqual(receipt)
})

it('a rollback to two points at once is refused, and changes nothing', async () => {
  await fixture.create({ name: 'a' })
  await ok(fixture.post('/a/checkpoints', { label: 'then' }))
  await ok(fixture.post('/a/checkpoints', { toolCall: 'call' }))
  await fixture.write('/repo/a.txt', 'x', 'a')
  const both = { to: 'then', beforeToolCall: 'call' }
  expect((await refused(fixture.post('/a/rollback', both))).code).toBe('invalid_argument')
  expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('x')
})

describe('a dry run', () => {
  const states = async (): Promise<string[]> =>
    (await ok(fixture.server.call<Page<LayerInfo>>('GET', '/w/layers'))).items.map(
      ({ name, state }) => `${name} ${state}`,
    )

  it('a dry run of a pick shows what would be committed and abandoned', async () => {
    const ids: string[] = []
    for (const name of ['a', 'b', 'c']) ids.push((await fixture.create({ name })).id)
    await fixture.create({ name: 'other-path', path: '/repo/sub' })
    await fixture.write('/repo/a.txt', 'x', 'a')
    const dry = await ok(fixture.post<PickReceipt>('/a/pick', { dryRun: true }))
    expect(dry).toMatchObject({
      commit: { dryRun: true, target: 'main', paths: [{ path: '/repo/a.txt' }] },
      abandoned: ids.slice(1),
    })
    expect(await states()).toEqual(['a open', 'b open', 'c open', 'other-path open'])
    expect(await fixture.read('/repo/a.txt')).toBe('one\n')
    const done = await ok(fixture.post<PickReceipt>('/a/pick'))
    expect(done.abandoned).toEqual(dry.abandoned)
    expect([done.commit.before, done.commit.after]).toEqual([dry.commit.before, dry.commit.after])
    expect(await states()).toEqual(['a committed', 'b abandoned', 'c abandoned', 'other-path open'])
  })

  it.each(['pick', 'commit'])('a dry run of a %s meets what the real one would', async (verb) => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'x', 'a')
    await fixture.write('/repo/a.txt', 'y')
    const code = async (body: object): Promise<string> =>
      (await refused(fixture.post(`/a/${verb}`, body))).code
    expect(await code({ dryRun: true })).toBe('layer_conflict')
    expect(await states()).toEqual(['a open'])
    await ok(fixture.post('/a/abandon'))
    expect([await code({ dryRun: true }), await code({})]).toEqual(['layer_closed', 'layer_closed'])
  })
})
