import { conflictKinds } from '@cairn/core'
import {
  type CommitReceipt,
  conflictSides,
  type ConflictSideName,
  type FileStat,
  type LayerChange,
  type LayerConflict,
  type Page,
  type ResolveReceipt,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import type { Answer } from '../testing/memory-servers.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
})

describe('conflicts', () => {
  it('conflicts are listed, readable on all sides, resolved by path, and never touch the target', async () => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    const error = await refused(fixture.post('/b/commit'))
    expect(error).toMatchObject({
      code: 'layer_conflict',
      conflicts: [{ kind: 'edit/edit', path: '/repo/a.txt', base: { kind: 'file' } }],
    })
    expect(await fixture.read('/repo/a.txt')).toBe('from main\n')
    expect((await fixture.status('b')).state).toBe('conflicted')
    const sides = await Promise.all(
      ['base', 'layer', 'target'].map((side) =>
        fixture.read('/repo/a.txt', `layer=b&side=${side}`),
      ),
    )
    expect(sides).toEqual(['one\n', 'from b\n', 'from main\n'])
    expect((await refused(fixture.post('/b/resolve', { path: 'b.txt', take: 'layer' }))).code).toBe(
      'conflict_missing',
    )
    const resolved = await ok(
      fixture.post<ResolveReceipt>('/b/resolve', {
        path: 'a.txt',
        take: 'content',
        text: 'both\n',
      }),
    )
    expect([resolved.resolved.length, resolved.conflicts]).toEqual([1, []])
    const resolvedPaths = [{ path: '/repo/a.txt', kind: 'edit/edit', take: 'content' }]
    expect(await ok(fixture.post('/b/commit', { dryRun: true }))).toMatchObject({
      resolved: resolvedPaths,
    })
    const receipt = await ok(fixture.post<CommitReceipt>('/b/commit'))
    expect(receipt.resolved).toEqual(resolvedPaths)
    expect(await ok(fixture.post('/b/commit'))).toEqual(receipt)
    expect(await fixture.read('/repo/a.txt')).toBe('both\n')
  })

  it.each([
    ['layer', 'from b\n'],
    ['target', 'from main\n'],
  ])('take the %s, rebase, commit', async (take, expected) => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    await refused(fixture.post('/b/rebase'))
    await ok(fixture.post('/b/resolve', { path: '/repo/a.txt', take }))
    await ok(fixture.post('/b/rebase'))
    expect(await fixture.read('/repo/a.txt', 'layer=b')).toBe(expected)
    await ok(fixture.post('/b/commit'))
    expect(await fixture.read('/repo/a.txt')).toBe(expected)
  })

  it('a receipt tells each decision that it went by, and none that stood for nothing', async () => {
    await fixture.create({ name: 'b' })
    for (const path of ['/repo/a.txt', '/repo/b.txt', '/repo/new.txt']) {
      await fixture.write(path, 'from b\n', 'b')
      await fixture.write(path, 'from main\n')
    }
    await ok(fixture.post('/b/resolve', { path: 'a.txt', take: 'layer' }))
    await ok(fixture.post('/b/resolve', { path: 'b.txt', take: 'target' }))
    await ok(fixture.post('/b/resolve', { path: 'new.txt', take: 'layer' }))
    await fixture.write('/repo/new.txt', 'again\n')
    await ok(fixture.post('/b/resolve', { path: 'new.txt', take: 'content', text: 'x' }))
    expect((await ok(fixture.post<CommitReceipt>('/b/commit'))).resolved).toEqual([
      { path: '/repo/a.txt', kind: 'edit/edit', take: 'layer' },
      { path: '/repo/b.txt', kind: 'edit/edit', take: 'target' },
      { path: '/repo/new.txt', kind: 'add/add', take: 'content' },
    ])
  })

  it('what is refused tells who asked, when, and the roots that do not go together', async () => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    const { head, base } = await fixture.status('b')
    await ok(fixture.post('', { name: 'now' }))
    const target = (await fixture.status('now')).base.root
    for (const [verb, body] of [
      ['commit', {}],
      ['commit', { dryRun: true }],
      ['rebase', {}],
      ['pick', {}],
    ] as const) {
      const { refused: told } = await refused(fixture.post(`/b/${verb}`, body))
      expect(told, verb).toMatchObject({
        base: base.root,
        layer: head.root,
        target,
        actor: 'key_1',
      })
      expect(Date.parse(told!.time)).toBeGreaterThan(Date.now() - 60_000)
    }
  })

  it('a decision does not stand once the target has changed again', async () => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    await ok(fixture.post('/b/resolve', { path: 'a.txt', take: 'layer' }))
    await fixture.write('/repo/a.txt', 'again\n')
    expect((await refused(fixture.post('/b/commit'))).code).toBe('layer_conflict')
    expect(await fixture.read('/repo/a.txt')).toBe('again\n')
  })

  it.each([
    ['target', { take: 'target' }],
    ['content', { take: 'content', text: 'merged' }],
  ])('take the %s: what the layer saves later is not overwritten', async (_, decision) => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    await ok(fixture.post('/b/resolve', { path: 'a.txt', ...decision }))
    await fixture.write('/repo/a.txt', 'later work\n', 'b')
    expect((await refused(fixture.post('/b/commit'))).code).toBe('layer_conflict')
    await ok(fixture.post('/b/resolve', { path: 'a.txt', take: 'layer' }))
    await ok(fixture.post('/b/commit'))
    expect(await fixture.read('/repo/a.txt')).toBe('later work\n')
  })

  it('the same change on both sides is none', async () => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'same\n', 'b')
    await fixture.write('/repo/a.txt', 'same\n')
    await ok(fixture.post('/b/commit'))
  })

  it('a conflicted layer can be read, written, diffed, rolled back and deleted', async () => {
    await fixture.create({ name: 'b' })
    await fixture.write('/repo/a.txt', 'from b\n', 'b')
    await fixture.write('/repo/a.txt', 'from main\n')
    await refused(fixture.post('/b/commit'))
    await ok(fixture.post('/b/checkpoints', { label: 'c' }))
    expect((await fixture.write('/repo/b.txt', 'more\n', 'b')).status).toBe(200)
    const diff = await ok(fixture.server.call<Page<LayerChange>>('GET', '/w/layers/b/diff'))
    expect(diff.items.map(({ path }) => path)).toEqual(['/repo/a.txt', '/repo/b.txt'])
    await ok(fixture.post('/b/rollback'))
    await ok(fixture.post('/b/commit'))
    await ok(fixture.server.call('DELETE', '/w/layers/b'))
  })

  const call = (verb: string, path: string, body: object, layer?: string): Promise<Answer> =>
    fixture.server.call('POST', `/w/files${path}?${verb}${layer ? `&layer=${layer}` : ''}`, body)
  const remove = (path: string, layer?: string): Promise<Answer> =>
    fixture.server.call('DELETE', `/w/files${path}?recursive${layer ? `&layer=${layer}` : ''}`)

  const kinds: [
    kind: string,
    path: string,
    inLayer: () => Promise<unknown>,
    inMain: () => Promise<unknown>,
  ][] = [
    [
      'edit/edit',
      '/repo/a.txt',
      () => fixture.write('/repo/a.txt', 'x', 'b'),
      () => fixture.write('/repo/a.txt', 'y'),
    ],
    [
      'edit/delete',
      '/repo/a.txt',
      () => fixture.write('/repo/a.txt', 'x', 'b'),
      () => remove('/repo/a.txt'),
    ],
    [
      'edit/delete',
      '/repo/a.txt',
      () => remove('/repo/a.txt', 'b'),
      () => fixture.write('/repo/a.txt', 'x'),
    ],
    [
      'add/add',
      '/repo/n',
      () => fixture.write('/repo/n', 'x', 'b'),
      () => fixture.write('/repo/n', 'y'),
    ],
    [
      'rename/rename',
      '/repo/x',
      () => call('move', '/repo/a.txt', { to: '/repo/x' }, 'b'),
      () => call('move', '/repo/a.txt', { to: '/repo/y' }),
    ],
    [
      'rename/delete',
      '/repo/x',
      () => call('move', '/repo/a.txt', { to: '/repo/x' }, 'b'),
      () => remove('/repo/a.txt'),
    ],
    [
      'file/directory',
      '/repo/n',
      () => fixture.write('/repo/n', 'x', 'b'),
      () => call('mkdir', '/repo/n', {}),
    ],
    [
      'directory cycle',
      '/repo/d2/d1',
      () => call('move', '/repo/d1', { to: '/repo/d2/d1' }, 'b'),
      () => call('move', '/repo/d2', { to: '/repo/d1/d2' }),
    ],
    [
      'mode',
      '/repo/a.txt',
      () => call('chmod', '/repo/a.txt', { mode: '0600' }, 'b'),
      () => call('chmod', '/repo/a.txt', { mode: '0755' }),
    ],
    [
      'hard link',
      '/repo/h',
      () => call('link', '/repo/a.txt', { to: '/repo/h' }, 'b'),
      () => remove('/repo/a.txt'),
    ],
  ]

  it('the kinds are all there are', () => {
    expect(new Set(kinds.map(([kind]) => kind))).toEqual(new Set(conflictKinds))
  })

  it.each(kinds)('%s at %s, with every side to be read', async (kind, path, inLayer, inMain) => {
    for (const name of ['d1', 'd2']) await call('mkdir', `/repo/${name}`, {})
    await fixture.create({ name: 'b' })
    await inLayer()
    await inMain()
    const error = await refused(fixture.post('/b/commit'))
    expect(error.code).toBe('layer_conflict')
    expect(error.conflicts?.map((conflict) => [conflict.kind, conflict.path])).toContainEqual([
      kind,
      path,
    ])
    for (const conflict of error.conflicts!)
      for (const side of conflictSides) await expectReadable(conflict, side)
  })

  /** As the conflict says it is; and not there where it says so. */
  const expectReadable = async (conflict: LayerConflict, side: ConflictSideName): Promise<void> => {
    const there = conflict[side]
    const path = there?.path ?? conflict.path
    const query = `layer=b&side=${side}`
    const url = `/w/files${path}?stat&follow=false&${query}`
    const stat = await fixture.server.call<FileStat>('GET', url)
    expect(stat.status === 404 ? undefined : stat.json.kind, `${side} ${path}`).toBe(there?.kind)
    if (there?.kind === 'file') expect(await fixture.read(path, query)).toHaveLength(stat.json.size)
    if (there?.kind === 'directory')
      await ok(fixture.server.call('GET', `/w/files${path}?list&limit=1&${query}`))
  }
})
