import { createHash } from 'node:crypto'
import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { TokenRecord, TokenStore } from '../ports/token-store.ts'

/** The contract of TokenStore. */
export const tokenStoreCases: readonly StoreCase<TokenStore>[] = casesOf((test) => {
  test('a token is found by id, by name and among others', async (store) => {
    const token = newToken({ name: 'agent-17' })
    await store.create(token)
    expect(await store.find(token.id)).toEqual(token)
    expect(await store.findByName(token.workspace, 'agent-17')).toEqual([token])
    expect(await store.findByName(uniqueId(), 'agent-17')).toEqual([])
    expect(await store.findAll([uniqueId(), token.id])).toEqual([token])
    expect(await store.find(uniqueId())).toBe(undefined)
  })

  test('a listing pages through a workspace by id', async (store) => {
    const workspace = uniqueId()
    const ids = ['1', '2', '3', '4', '5'].map((end) => `${workspace}-${end}`)
    for (const id of ids.toReversed()) await store.create(newToken({ id, workspace }))
    const first = await store.list(workspace, undefined, 3)
    expect(first.map(({ id }) => id)).toEqual(ids.slice(0, 3))
    const rest = await store.list(workspace, ids[2], 3)
    expect(rest.map(({ id }) => id)).toEqual(ids.slice(3))
  })

  test('revoking is for ever: the first time stands, and nothing extends it', async (store) => {
    const token = newToken({})
    await store.create(token)
    expect(await store.extend(token.id, 5000)).toBe(true)
    expect(await store.revoke(token.id, 6000)).toBe(true)
    expect(await store.revoke(token.id, 7000)).toBe(false)
    expect(await store.extend(token.id, 9000)).toBe(false)
    expect(await store.find(token.id)).toMatchObject({ expiresMs: 5000, revokedMs: 6000 })
    expect(await store.revoke(uniqueId(), 1)).toBe(false)
  })

  test('what is charged at once adds up', async (store) => {
    const token = newToken({})
    await store.create(token)
    await Promise.all(
      Array.from({ length: 8 }, () => store.charge(token.id, { bytes: 3_000_000_000, files: 2 })),
    )
    expect((await store.find(token.id))?.used).toEqual({ bytes: 24_000_000_000, files: 16 })
  })
})

function newToken(fields: Partial<TokenRecord>): TokenRecord {
  return {
    id: uniqueId(),
    owner: uniqueId(),
    workspace: uniqueId(),
    name: 'x',
    caveat: 'e30',
    signatureHash: createHash('sha256').update(uniqueId()).digest(),
    issuedBy: 'key_1',
    createdMs: 1000,
    expiresMs: 2000,
    revokedMs: undefined,
    used: { bytes: 0, files: 0 },
    ...fields,
  }
}
