import type { CheckpointInfo, Page, RootReceipt } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

describe('rollback', () => {
  it('goes to a checkpoint or to the base, and is undone', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    await fixture.write('/repo/a.txt', 'three\n', 'a')
    await fixture.write('/repo/new.txt', 'new\n', 'a')
    const receipt = await ok(fixture.post<RootReceipt>('/a/rollback', { to: 'pass' }))
    expect(receipt.paths.map(({ kind, path }) => [kind, path])).toEqual([
      ['modified', '/repo/a.txt'],
      ['deleted', '/repo/new.txt'],
    ])
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('two\n')
    await ok(fixture.post('/a/undo'))
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('three\n')
    await ok(fixture.post('/a/rollback'))
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('one\n')
    expect((await fixture.status('a')).changes).toEqual([])
    await fixture.write('/repo/b.txt', 'x', 'a')
    expect((await refused(fixture.post('/a/undo'))).code).toBe('nothing_to_undo')
  })

  it('a rollback to a checkpoint from before a rebase is refused', async () => {
    await fixture.create({ name: 'a' })
    await ok(fixture.post('/a/checkpoints', { label: 'old' }))
    await fixture.write('/repo/b.txt', 'main\n')
    await ok(fixture.post('/a/rebase'))
    expect((await refused(fixture.post('/a/rollback', { to: 'old' }))).code).toBe(
      'checkpoint_outdated',
    )
    await ok(fixture.post('/a/rollback'))
    expect(await fixture.read('/repo/b.txt', 'layer=a')).toBe('main\n')
  })
})

describe('behind what was committed', () => {
  it('there is no way back; to what was committed there is', async () => {
    await fixture.create({ name: 'a' })
    for (const label of ['one', 'two', 'three']) {
      await fixture.write(`/repo/${label}`, label, 'a')
      await ok(fixture.post('/a/checkpoints', { label }))
    }
    await ok(fixture.post('/a/commit', { checkpoint: 'two' }))
    expect((await refused(fixture.post('/a/rollback', { to: 'one' }))).code).toBe(
      'checkpoint_outdated',
    )
    expect((await refused(fixture.post('/a/commit', { checkpoint: 'one' }))).code).toBe(
      'checkpoint_outdated',
    )
    await ok(fixture.post('/a/rollback', { to: 'two' }))
    await ok(fixture.post('/a/rollback'))
    await ok(fixture.post('/a/commit'))
    const kept = await Promise.all(
      ['one', 'two', 'three'].map((name) => fixture.read(`/repo/${name}`)),
    )
    expect(kept).toEqual(['one', 'two', undefined])
  })
})

describe('what a rollback leaves', () => {
  const automatic = async (layer: string): Promise<string[]> => {
    const page = fixture.server.call<Page<CheckpointInfo>>('GET', `/w/layers/${layer}/checkpoints`)
    return (await ok(page)).items.filter((each) => each.automatic).map(({ id }) => id)
  }

  it('what a rollback leaves is a checkpoint, which undoing names once something was written', async () => {
    await ok(fixture.post('/main/checkpoints', { label: 'before' }))
    await fixture.write('/repo/a.txt', 'two\n')
    await ok(fixture.post('/main/rollback', { to: 'before' }))
    await fixture.write('/repo/b.txt', 'later\n')
    const error = await refused(fixture.post('/main/undo'))
    const [left] = await automatic('main')
    expect(error.code).toBe('nothing_to_undo')
    expect(error.message).toContain(`cairn fs layer rollback main --to ${left}`)
    await ok(fixture.post('/main/rollback', { to: left }))
    expect(await fixture.read('/repo/a.txt')).toBe('two\n')
    expect(await fixture.read('/repo/b.txt')).toBe('bee\n')
    expect(await automatic('main')).toHaveLength(2)
  })

  it('a rollback leaves no checkpoint where nothing is left', async () => {
    await fixture.create({ name: 'a' })
    await ok(fixture.post('/a/rollback'))
    expect(await automatic('a')).toEqual([])
    await fixture.write('/repo/b.txt', 'x', 'a')
    const { message } = await refused(fixture.post('/a/undo'))
    expect(message).not.toContain('--to')
  })

  it('what a rollback leaves is not named where it lies behind the base', async () => {
    await fixture.create({ name: 'a' })
    await fixture.write('/repo/a.txt', 'two\n', 'a')
    await ok(fixture.post('/a/rollback'))
    await fixture.write('/repo/b.txt', 'main\n')
    await ok(fixture.post('/a/rebase'))
    expect(await automatic('a')).toHaveLength(1)
    expect((await refused(fixture.post('/a/undo'))).message).not.toContain('--to')
  })
})
