import { createHash } from 'node:crypto'
import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { KeyStore, KeyValue } from '../ports/key-store.ts'

/** The contract of KeyStore. */
export const keyStoreCases: readonly StoreCase<KeyStore>[] = casesOf((test) => {
  test('a key is found by the hash of its secret, by id and in its owner’s list', async (store) => {
    const { value, hash } = newValue({ name: 'CI “nightly”' })
    expect(await store.findBySecret(hash)).toBe(undefined)
    expect(await store.create(value, hash)).toBe(true)
    expect(await store.findBySecret(hash)).toEqual(value)
    expect(await store.findBySecret(newValue({}).hash)).toBe(undefined)
    expect(await store.findAll([uniqueId(), value.id])).toEqual([value])
    expect(await store.read(value.owner)).toEqual({ version: 0, values: [value] })
    expect(await store.read(uniqueId())).toEqual({ version: 0, values: [] })
  })

  test('an id or a secret that is taken is refused', async (store) => {
    const { value, hash } = newValue({})
    await store.create(value, hash)
    expect(await store.create({ ...value, owner: uniqueId() }, newValue({}).hash)).toBe(false)
    expect(await store.create(newValue({}).value, hash)).toBe(false)
    expect(await store.findBySecret(hash)).toEqual(value)
  })

  test('of two changes to one version the second is refused, whole', async (store) => {
    const [first, second, third] = [newValue({}), newValue({}), newValue({})]
    const { owner } = first.value
    const add = ({ value, hash }: typeof first, version: number): Promise<boolean> =>
      store.change(owner, version, { create: { value: { ...value, owner }, secretHash: hash } })
    expect(await add(first, 0)).toBe(true)
    expect(await add(second, 0)).toBe(false)
    expect(await add(second, 1)).toBe(true)
    const end = { name: first.value.name, at: '2026-11-03T00:00:00.000Z' }
    expect(await store.change(owner, 1, { end })).toBe(false)
    expect(await add(third, 1)).toBe(false)
    const { version, values } = await store.read(owner)
    expect(version).toBe(2)
    expect(values.map(({ endsAt }) => endsAt)).toEqual([undefined, undefined])
    expect(new Set(values.map(({ id }) => id))).toEqual(new Set([first.value.id, second.value.id]))
  })

  test('an end is that of every value of the name, and comes earlier but never later', async (store) => {
    const [old, alsoOld, other] = [newValue({}), newValue({}), newValue({ name: 'other' })]
    const { owner } = old.value
    for (const { value, hash } of [old, alsoOld, other])
      await store.create({ ...value, owner }, hash)
    const [early, late] = ['2026-11-02T00:00:00.000Z', '2026-11-02T01:00:00.000Z']
    const endsOf = async (): Promise<unknown[]> =>
      Promise.all(
        [old, alsoOld, other].map(async ({ hash }) => (await store.findBySecret(hash))?.endsAt),
      )
    const next = newValue({})
    const create = { value: { ...next.value, owner }, secretHash: next.hash }
    expect(await store.change(owner, 0, { end: { name: 'agent', at: late }, create })).toBe(true)
    expect(await endsOf()).toEqual([late, late, undefined])
    expect((await store.findBySecret(next.hash))?.endsAt).toBe(undefined)
    await store.change(owner, 1, { end: { name: 'agent', at: early } })
    await store.change(owner, 2, { end: { name: 'agent', at: late } })
    expect(await endsOf()).toEqual([early, early, undefined])
  })
})

function newValue(fields: Partial<KeyValue>): { value: KeyValue; hash: Uint8Array } {
  const value = {
    id: uniqueId(),
    owner: uniqueId(),
    name: 'agent',
    createdAt: '2026-11-01T10:00:00.000Z',
    endsAt: undefined,
    ...fields,
  }
  return { value, hash: createHash('sha256').update(uniqueId()).digest() }
}
