import { createHash } from 'node:crypto'
import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { KeyTable, StoredKey } from '../storage/key-table.ts'

/** The contract of KeyTable, on whichever database. */
export const keyTableCases: readonly StoreCase<KeyTable>[] = casesOf((test) => {
  test('a key is found by the hash of its secret', async (table) => {
    const { key, secret } = newKey({ label: 'CI “nightly”' })
    expect(await table.findBySecret(secret)).toBe(undefined)
    expect(await table.create(key, secret)).toBe(true)
    expect(await table.findBySecret(secret)).toEqual({ ...key, revokedAt: undefined })
    expect(await table.findBySecret(newKey({}).secret)).toBe(undefined)
  })

  test('an id or a secret that is taken is refused', async (table) => {
    const { key, secret } = newKey({})
    await table.create(key, secret)
    expect(await table.create({ ...key, owner: uniqueId() }, newKey({}).secret)).toBe(false)
    expect(await table.create(newKey({}).key, secret)).toBe(false)
    expect(await table.findBySecret(secret)).toEqual({ ...key, revokedAt: undefined })
  })

  test('a revoked key opens nothing and is still listed; the first time stands', async (table) => {
    const { key, secret } = newKey({})
    await table.create(key, secret)
    const time = '2026-11-02T00:00:00.000Z'
    expect(await table.revoke(uniqueId(), key.id, time)).toBe(false)
    expect(await table.revoke(key.owner, key.id, time)).toBe(true)
    expect(await table.revoke(key.owner, key.id, '2027-01-01T00:00:00.000Z')).toBe(false)
    expect(await table.findBySecret(secret)).toBe(undefined)
    expect(await table.list(key.owner, undefined, 10)).toEqual([{ ...key, revokedAt: time }])
  })

  test("a listing pages through an owner's keys by id", async (table) => {
    const owner = uniqueId()
    const ids = ['1', '2', '3', '4', '5'].map((end) => `${owner}-${end}`)
    for (const id of ids.toReversed()) {
      const { key, secret } = newKey({ id, owner })
      await table.create(key, secret)
    }
    const first = await table.list(owner, undefined, 3)
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    const rest = await table.list(owner, ids[2], 3)
    expect(rest.map(({ id }) => id)).toEqual(ids.slice(3))
  })
})

function newKey(fields: Partial<StoredKey>): {
  key: Omit<StoredKey, 'revokedAt'>
  secret: Uint8Array
} {
  const key = {
    id: uniqueId(),
    owner: uniqueId(),
    kind: 'owner',
    label: '',
    createdAt: '2026-11-01T10:00:00.000Z',
    ...fields,
  }
  return { key, secret: createHash('sha256').update(uniqueId()).digest() }
}
