// What is done to a layer as a whole, cut in the middle and asked for again under its key.
import { MemoryRefStore } from '@cairn/core/testing'
import type { BranchRecord } from '@cairn/core'
import type { CheckpointInfo, Page, ResolveReceipt, RootReceipt } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cutAppend, cutOnce } from '../../test/cut-once.ts'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'
import { MemoryLayerStore } from '../testing/memory-layer-store.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
  await fixture.create({ name: 'try' })
  await fixture.write('/repo/a.txt', 'mine\n', 'try')
})

afterEach(() => vi.restoreAllMocks())

/** It is done by then, and no client knows. */
const cutAnswer = (): void =>
  cutOnce(MemoryLayerStore, 'putAnswer', (_workspace: string, request: string) =>
    request.endsWith(':k'),
  )

const post = <T>(verb: string, body: object = {}): ReturnType<typeof fixture.post<T>> =>
  fixture.post<T>(`/try/${verb}`, body, 'k')

async function expectCut(verb: string, body: object = {}): Promise<void> {
  expect((await refused(post(verb, body))).code).toBe('storage_unavailable')
}

const causes = async (): Promise<string[]> => {
  const log = fixture.server.call<Page<{ operations: { op: string }[] }>>('GET', '/w/log?layer=try')
  const { items } = await ok(log)
  const words = items.flatMap(({ operations }) => operations.map(({ op }) => op.split(' ')[0]!))
  return words.filter((word) => ['rollback', 'rebase', 'undo'].includes(word))
}

it.each([
  ['before its batch', () => cutAppend(({ body }) => body.type === 'root')],
  ['before its answer', cutAnswer],
])('a rollback, %s: happens once, and leaves one checkpoint', async (_, cut) => {
  cut()
  await expectCut('rollback')
  const receipt = await ok(post<RootReceipt>('rollback'))
  expect(receipt.paths).toMatchObject([{ path: '/repo/a.txt' }])
  await fixture.write('/repo/a.txt', 'later\n', 'try')
  expect(await ok(post('rollback'))).toEqual(receipt)
  expect(await fixture.read('/repo/a.txt', 'layer=try')).toBe('later\n')
  expect(await causes()).toEqual(['rollback'])
  const checkpoints = fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/try/checkpoints')
  expect((await ok(checkpoints)).items).toMatchObject([{ automatic: true }])
})

it.each([
  ['before its batch', () => cutAppend(({ body }) => body.type === 'root')],
  [
    'before its record',
    () => cutOnce(MemoryRefStore, 'updateBranch', ({ baseSeq }: BranchRecord) => baseSeq !== 0),
  ],
  ['before its answer', cutAnswer],
])('a rebase, %s: happens once', async (_, cut) => {
  await fixture.write('/repo/theirs.txt', 'theirs\n')
  cut()
  await expectCut('rebase')
  const receipt = await ok(post<RootReceipt>('rebase'))
  expect(receipt.paths).toMatchObject([{ path: '/repo/theirs.txt' }])
  expect(await ok(post('rebase'))).toEqual(receipt)
  expect(await causes()).toEqual(['rebase'])
  await fixture.server.call('DELETE', '/w/files/repo/theirs.txt')
  await ok(fixture.post('/try/commit'))
  expect(await fixture.read('/repo/theirs.txt')).toBe(undefined)
  expect(await fixture.read('/repo/a.txt')).toBe('mine\n')
})

it.each([
  ['before its record', () => cutOnce(MemoryRefStore, 'updateBranch', hasDecisions)],
  ['before its answer', cutAnswer],
])('a decision, %s: stands once it is asked for again', async (_, cut) => {
  await fixture.write('/repo/a.txt', 'theirs\n')
  cut()
  await expectCut('resolve', { path: 'a.txt', take: 'target' })
  const again = { path: 'a.txt', take: 'target' }
  expect((await ok(post<ResolveReceipt>('resolve', again))).conflicts).toEqual([])
  await ok(fixture.post('/try/commit'))
  expect(await fixture.read('/repo/a.txt')).toBe('theirs\n')
})

function hasDecisions({ resolutions }: BranchRecord): boolean {
  return resolutions.length > 0
}
