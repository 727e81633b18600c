import type { CommitReceipt } from '@cairn/protocol'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { cutAppend } from '../../test/cut-once.ts'
import { LayerFixture, ok, refused } from '../../test/layer-fixture.ts'

let fixture: LayerFixture

beforeEach(async () => {
  fixture = new LayerFixture()
  await fixture.fill()
  await fixture.create({ name: 'try' })
  await fixture.write('/repo/first.txt', 'first', 'try')
})

afterEach(() => vi.restoreAllMocks())

/** The commit itself is in the target's log by then. */
const failWhenClosing = (): void => cutAppend(({ body }) => body.type === 'state')

const commit = (key: string): ReturnType<typeof fixture.post<CommitReceipt>> =>
  fixture.post<CommitReceipt>('/try/commit', {}, key)

const pathsOf = ({ paths }: CommitReceipt): string[] => paths.map(({ path }) => path)

it('one that was cut off is not done again, and takes nothing along that came later', async () => {
  failWhenClosing()
  expect((await refused(commit('k'))).code).toBe('storage_unavailable')
  await fixture.write('/repo/later.txt', 'later', 'try')
  const receipt = await ok(commit('k'))
  expect(pathsOf(receipt)).toEqual(['/repo/first.txt'])
  expect(await ok(commit('k'))).toEqual(receipt)
  expect(await fixture.read('/repo/first.txt')).toBe('first')
  expect(await fixture.read('/repo/later.txt')).toBe(undefined)
  expect(pathsOf(await ok(commit('another')))).toEqual(['/repo/later.txt'])
})

it('one that was cut off, and asked for again under no key, is one commit and the rest', async () => {
  failWhenClosing()
  expect((await refused(fixture.post('/try/commit'))).code).toBe('storage_unavailable')
  const { seq } = await ok(fixture.post<CommitReceipt>('/try/commit'))
  expect((await ok(fixture.post<CommitReceipt>('/try/commit'))).seq).toBe(seq)
})

it('one that met a conflict is done under the same key once that is decided', async () => {
  await fixture.write('/repo/a.txt', 'mine', 'try')
  await fixture.write('/repo/a.txt', 'theirs')
  expect((await refused(commit('k'))).code).toBe('layer_conflict')
  await fixture.write('/repo/more.txt', 'more', 'try')
  await ok(fixture.post('/try/resolve', { path: 'a.txt', take: 'layer' }))
  const receipt = await ok(commit('k'))
  expect(pathsOf(receipt)).toEqual(['/repo/a.txt', '/repo/first.txt', '/repo/more.txt'])
  expect(await ok(commit('k'))).toEqual(receipt)
})

it('a key that was used for another layer, or with other options, is refused', async () => {
  await fixture.create({ name: 'other' })
  await fixture.write('/repo/other.txt', 'other', 'other')
  const receipt = await ok(commit('k'))
  const again = (path: string, body: object): ReturnType<typeof refused> =>
    refused(fixture.post(path, body, 'k'))
  expect((await again('/other/commit', {})).code).toBe('idempotency_mismatch')
  expect((await again('/try/commit', { message: 'because' })).code).toBe('idempotency_mismatch')
  expect((await again('/try/rebase', {})).code).toBe('idempotency_mismatch')
  expect(await fixture.read('/repo/other.txt')).toBe(undefined)
  expect(await ok(commit('k'))).toEqual(receipt)
})
