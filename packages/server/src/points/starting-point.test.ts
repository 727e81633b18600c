import type { Blame, CommitReceipt } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

describe('a layer made from one that is over', () => {
  beforeEach(async () => {
    fixture = new LayerFixture()
    await fixture.fill()
    await ok(fixture.post('/main/checkpoints', { label: 'before' }))
    await fixture.create({ name: 'a', message: 'better' })
    await fixture.write('/repo/a.txt', 'one\ntwo\n', 'a')
    await ok(fixture.post('/a/checkpoints', { label: 'pass' }))
    await fixture.write('/repo/new.txt', 'new\n', 'a')
  })

  it('a layer made from one that is over has its work, to be committed anew once the parent was rolled back', async () => {
    await ok(fixture.post('/a/commit'))
    await ok(fixture.post('/main/rollback', { to: 'before' }))
    const again = await fixture.create({ name: 'again', parent: 'a' })
    expect(again).toMatchObject({ parent: 'main', path: '/repo', state: 'open' })
    expect((await fixture.status('again')).changes).toMatchObject([
      { kind: 'modified', path: '/repo/a.txt' },
      { kind: 'added', path: '/repo/new.txt' },
    ])
    await fixture.write('/repo/more.txt', 'more\n', 'again')
    const { paths } = await ok(fixture.post<CommitReceipt>('/again/commit'))
    expect(paths).toHaveLength(3)
    expect(await fixture.read('/repo/a.txt')).toBe('one\ntwo\n')
    expect(await fixture.read('/repo/new.txt')).toBe('new\n')
  })

  it('a layer made from one that is over has the work of all its commits, where several were made', async () => {
    await ok(fixture.post('/a/commit', { checkpoint: 'pass' }))
    await ok(fixture.post('/a/commit'))
    await ok(fixture.post('/main/rollback', { to: 'before' }))
    await fixture.create({ name: 'again', parent: 'a' })
    expect((await fixture.status('again')).changes).toMatchObject([
      { kind: 'modified', path: '/repo/a.txt' },
      { kind: 'added', path: '/repo/new.txt' },
    ])
    await ok(fixture.post('/again/commit'))
    expect(await fixture.read('/repo/a.txt')).toBe('one\ntwo\n')
  })

  it('a layer made from one that is over has the work since its last rebase, and nothing that the rebase brought', async () => {
    await fixture.write('/repo/b.txt', 'main\n')
    await ok(fixture.post('/a/rebase'))
    await ok(fixture.post('/a/checkpoints', { label: 'rebased' }))
    await fixture.write('/repo/more.txt', 'more\n', 'a')
    await ok(fixture.post('/a/commit', { checkpoint: 'rebased' }))
    await ok(fixture.post('/a/commit'))
    await fixture.create({ name: 'again', parent: 'a' })
    expect((await fixture.status('again')).changes).toMatchObject([
      { kind: 'modified', path: '/repo/a.txt' },
      { kind: 'added', path: '/repo/more.txt' },
      { kind: 'added', path: '/repo/new.txt' },
    ])
  })

  it('a layer can be made from a checkpoint of an abandoned one, which does not change', async () => {
    await ok(fixture.post('/a/abandon'))
    await fixture.create({ name: 'again', parent: 'a', at: 'pass' })
    expect((await fixture.status('again')).changes).toMatchObject([{ path: '/repo/a.txt' }])
    expect((await fixture.status('a')).state).toBe('abandoned')
    await ok(fixture.post('/again/rollback'))
    expect(await fixture.read('/repo/a.txt', 'layer=again')).toBe('one\n')
  })

  it('a layer made from one that is over is not narrower than the work it has', async () => {
    await ok(fixture.post('/a/abandon'))
    const error = await refused(fixture.post('', { parent: 'a', path: '/repo/sub' }))
    expect(error.code).toBe('outside_layer')
    expect(await fixture.create({ parent: 'a', path: '/' })).toMatchObject({ path: '/' })
  })

  it('a layer that is over gives no layer from before its rebase', async () => {
    await fixture.write('/repo/b.txt', 'main\n')
    await ok(fixture.post('/a/rebase'))
    await ok(fixture.post('/a/abandon'))
    expect((await refused(fixture.post('', { parent: 'a', at: 'pass' }))).code).toBe(
      'checkpoint_outdated',
    )
  })

  it('blame shows the authors of the old layer', async () => {
    const { id } = await fixture.status('a')
    await ok(fixture.post('/a/abandon'))
    await fixture.create({ name: 'again', parent: 'a' })
    const { json } = await fixture.server.call<Blame>(
      'GET',
      '/w/blame?path=/repo/a.txt&layer=again',
    )
    const layers = json.parts.map(({ text, origin }) => [text, json.origins[origin!]?.layer])
    expect(layers).toEqual([
      ['one\n', undefined],
      ['two\n', id],
    ])
  })
})
