import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { BranchId, CheckpointId, Hash } from '@cairn/protocol'
import { cursorOf, type LayerRecord, type LayerStore } from '../ports/layer-store.ts'

/** The contract of LayerStore. */
export const layerStoreCases: readonly StoreCase<LayerStore>[] = casesOf((test) => {
  const layer = (workspace: string, id: string, more: Partial<LayerRecord> = {}): LayerRecord => ({
    workspace,
    id,
    branch: `${workspace}/${id}` as BranchId,
    name: undefined,
    parent: 'main',
    path: '/rep\u00e9',
    tags: {},
    state: 'open',
    message: '',
    createdBy: 'key_1',
    createdAt: '2031-05-01T00:00:00.000Z',
    originRoot: 'r'.repeat(32) as Hash,
    originSeq: 7,
    version: 1,
    ...more,
  })

  test('a layer is found by id, name and branch, in its workspace alone', async (store) => {
    const workspace = uniqueId()
    const record = layer(workspace, 'a', { name: 'try', tags: { agent: 'é', k: '' } })
    expect(await store.create(record)).toBe(true)
    expect(await store.find(workspace, 'a')).toEqual(record)
    expect(await store.findByName(workspace, 'try')).toEqual(record)
    expect(await store.findByBranch(record.branch)).toEqual(record)
    expect(await store.find(uniqueId(), 'a')).toBe(undefined)
    expect(await store.findByName(workspace, 'a')).toBe(undefined)
  })

  test('an id or a name that is taken stays as it is', async (store) => {
    const workspace = uniqueId()
    const first = layer(workspace, 'a', { name: 'try' })
    await store.create(first)
    const other = { branch: uniqueId() as BranchId }
    expect(await store.create(layer(workspace, 'a', other))).toBe(false)
    expect(await store.create(layer(workspace, 'b', { ...other, name: 'try' }))).toBe(false)
    expect(await store.create(layer(workspace, 'try', other))).toBe(false)
    expect(await store.find(workspace, 'b')).toBe(undefined)
    expect(await store.find(workspace, 'a')).toEqual(first)
  })

  test('an update wins once, and moves the name', async (store) => {
    const workspace = uniqueId()
    const first = layer(workspace, 'a', { name: 'try', tags: { agent: 'a' } })
    await store.create(first)
    await store.create(layer(workspace, 'b', { name: 'taken' }))
    const second = {
      ...first,
      name: 'done',
      tags: { agent: 'b' },
      state: 'committed',
      version: 2,
    } as const
    expect(await store.update(second)).toBe(true)
    expect(await store.update({ ...second, name: 'late' })).toBe(false)
    expect(await store.update({ ...second, name: 'taken', version: 3 })).toBe(false)
    expect(await store.findByName(workspace, 'try')).toBe(undefined)
    expect(await store.findByName(workspace, 'done')).toEqual(second)
    expect(await store.list(workspace, { tag: 'agent=a' }, undefined, 9)).toEqual([])
    expect(await store.list(workspace, { tag: 'agent=b' }, undefined, 9)).toEqual([second])
  })

  test('a listing pages in the order of creation, and filters', async (store) => {
    const workspace = uniqueId()
    const made = [
      layer(workspace, 'c', { createdAt: '2031-05-01T00:00:00.000Z', tags: { k: 'v' } }),
      layer(workspace, 'a', { createdAt: '2031-05-02T00:00:00.000Z', parent: 'c' }),
      layer(workspace, 'b', { createdAt: '2031-05-02T00:00:00.000Z', state: 'abandoned' }),
    ]
    for (const record of made.toSorted((a, b) => (a.id < b.id ? 1 : -1))) await store.create(record)
    expect(await store.list(workspace, {}, undefined, 2)).toEqual(made.slice(0, 2))
    expect(await store.list(workspace, {}, cursorOf(made[1]!), 2)).toEqual(made.slice(2))
    expect(await store.list(workspace, { tag: 'k=v' }, undefined, 9)).toEqual([made[0]])
    expect(await store.list(workspace, { parent: 'c' }, undefined, 9)).toEqual([made[1]])
    expect(await store.list(workspace, { state: 'abandoned' }, undefined, 9)).toEqual([made[2]])
  })

  test('one that was removed is not found; its name is free, its id is not', async (store) => {
    const workspace = uniqueId()
    await store.create(layer(workspace, 'a', { name: 'try', tags: { k: 'v' } }))
    expect(await store.remove(workspace, 'a', '2031-05-03T00:00:00.000Z')).toBe(true)
    expect(await store.remove(workspace, 'a', '2031-05-03T00:00:00.000Z')).toBe(false)
    expect(await store.find(workspace, 'a')).toBe(undefined)
    expect(await store.list(workspace, {}, undefined, 9)).toEqual([])
    expect(await store.create(layer(workspace, 'a'))).toBe(false)
    expect(await store.create(layer(workspace, 'b', { name: 'try' }))).toBe(true)
  })

  test('one that a layer stands on is not removed, and none is made on one that was', async (store) => {
    const workspace = uniqueId()
    const time = '2031-05-03T00:00:00.000Z'
    await store.create(layer(workspace, 'a'))
    await store.create(layer(workspace, 'b', { parent: 'a' }))
    expect(await store.remove(workspace, 'a', time)).toBe(false)
    expect(await store.find(workspace, 'a')).toEqual(layer(workspace, 'a'))
    await store.remove(workspace, 'b', time)
    expect(await store.remove(workspace, 'a', time)).toBe(true)
    expect(await store.create(layer(workspace, 'c', { parent: 'a' }))).toBe(false)
    expect(await store.find(workspace, 'c')).toBe(undefined)
  })

  test('of a removal and a layer made on it at once, one wins', async (store) => {
    const workspace = uniqueId()
    await store.create(layer(workspace, 'a'))
    const won = await Promise.all([
      store.create(layer(workspace, 'b', { parent: 'a' })),
      store.remove(workspace, 'a', '2031-05-03T00:00:00.000Z'),
    ])
    expect(won.filter(Boolean).length).toBe(1)
    expect(await store.find(workspace, 'a')).toEqual(won[0] ? layer(workspace, 'a') : undefined)
  })

  test('labels lead to checkpoints of several branches', async (store) => {
    const workspace = uniqueId()
    const label = (branch: string, id: string): Parameters<LayerStore['putLabel']>[0] => ({
      workspace,
      branch: `${workspace}/${branch}` as BranchId,
      id: id as CheckpointId,
      label: 'pass',
      toolCall: id === 'c1' ? 'call_1' : undefined,
    })
    const [one, two] = [label('a', 'c1'), label('b', 'c2')]
    for (const each of [one, two, one]) await store.putLabel(each)
    expect(await store.findLabels(workspace, 'pass')).toEqual([one, two])
    expect(await store.findLabels(uniqueId(), 'pass')).toEqual([])
    expect(await store.listLabels(two.branch)).toEqual([two])
    expect(await store.removeLabel(two.branch, two.id)).toBe(true)
    expect(await store.removeLabel(two.branch, two.id)).toBe(false)
    expect(await store.findLabels(workspace, 'pass')).toEqual([one])
  })

  test('settings: none at first, the last word counts, each layer has its own', async (store) => {
    const workspace = uniqueId()
    expect(await store.findSettings(workspace, 'main')).toEqual({})
    await store.putSettings(workspace, 'main', { maxBytes: 2 ** 40, maxFiles: 3 })
    await store.putSettings(workspace, 'main', { maxFiles: 4 })
    await store.putSettings(workspace, 'ly_1', { autoCheckpointMs: 30_000 })
    expect(await store.findSettings(workspace, 'main')).toEqual({ maxFiles: 4 })
    expect(await store.findSettings(workspace, 'ly_1')).toEqual({ autoCheckpointMs: 30_000 })
    expect(await store.findSettings(uniqueId(), 'main')).toEqual({})
  })

  test('the first answer under a key stays', async (store) => {
    const workspace = uniqueId()
    expect(await store.findAnswer(workspace, 'k')).toBe(undefined)
    await store.putAnswer(workspace, 'k', '{"é":1}')
    await store.putAnswer(workspace, 'k', 'later')
    expect(await store.findAnswer(workspace, 'k')).toBe('{"é":1}')
    expect(await store.findAnswer(uniqueId(), 'k')).toBe(undefined)
  })
})
