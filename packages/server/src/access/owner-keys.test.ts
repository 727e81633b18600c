import { beforeEach, describe, expect, it } from 'vitest'
import { openMasterKey } from './master-key.ts'
import { MemoryKeyStore } from '../../test/memory-key-store.ts'
import { MemoryTokenStore } from '../testing/memory-token-store.ts'
import { codeOf, expectCode } from '@cairn/core/conformance'
import type { ActorId } from '@cairn/protocol'
import { AccessWatch } from './access-watch.ts'
import { hashSecret } from './authenticator.ts'
import { OwnerKeys } from './owner-keys.ts'
import { TokenKeeper } from './token-keeper.ts'

const hourMs = 3_600_000

describe('owner keys', () => {
  let nowMs = 0
  let store: MemoryKeyStore
  let keys: OwnerKeys
  const open = (): OwnerKeys => new OwnerKeys(store, { nowMs: () => nowMs })
  const nameOf = async (secret: string, at = keys): Promise<string | undefined> =>
    (await at.find(hashSecret(secret)))?.name

  beforeEach(() => {
    nowMs = Date.parse('2026-11-18T12:00:00.000Z')
    store = new MemoryKeyStore()
    keys = open()
  })

  it('a key is found by its secret under its name, at every server', async () => {
    const { secret } = await keys.add('o', 'alice')
    expect(await nameOf(secret)).toBe('alice')
    expect(await nameOf(secret, open())).toBe('alice')
    expect(await nameOf('cairn_unknown')).toBe(undefined)
  })

  it('a name is given once, also after its key was removed', async () => {
    await keys.add('o', 'alice')
    await expectCode(keys.add('o', 'alice'), 'key_exists', 'alice')
    await keys.add('o', 'bob')
    await keys.remove('o', 'alice')
    await expectCode(keys.add('o', 'alice'), 'key_exists')
    await expectCode(keys.add('o', 'server'), 'key_exists')
    expect(await keys.add('other-owner', 'alice')).toMatchObject({ state: 'live' })
  })

  it('a rotated secret ends at once; the new one has the same name', async () => {
    const { secret } = await keys.add('o', 'alice')
    nowMs += hourMs
    const next = await keys.rotate('o', 'alice', 0)
    await expectCode(keys.find(hashSecret(secret)), 'access_ended', 'alice')
    expect(await nameOf(next.secret)).toBe('alice')
    expect(next).toMatchObject({ rotatedAt: '2026-11-18T13:00:00.000Z' })
    expect(next).not.toHaveProperty('graceUntil')
  })

  it('an old secret works until the end of its grace, also after more rotations', async () => {
    const { secret } = await keys.add('o', 'alice')
    const second = await keys.rotate('o', 'alice', hourMs)
    expect(second.graceUntil).toBe('2026-11-18T13:00:00.000Z')
    nowMs += hourMs / 2
    await keys.rotate('o', 'alice', hourMs)
    expect(await nameOf(secret)).toBe('alice')
    nowMs += hourMs / 2
    await expectCode(keys.find(hashSecret(secret)), 'access_ended')
    expect(await nameOf(second.secret)).toBe('alice')
    expect(await keys.list('o')).toMatchObject([{ graceUntil: '2026-11-18T13:30:00.000Z' }])
  })

  it('the last key stays, and a grace that runs out does not count as another', async () => {
    await keys.add('o', 'alice')
    await expectCode(keys.remove('o', 'alice'), 'last_key', 'alice')
    await keys.rotate('o', 'alice', hourMs)
    await expectCode(keys.remove('o', 'alice'), 'last_key')
    await keys.add('o', 'bob')
    expect(await keys.remove('o', 'alice')).toMatchObject({ state: 'removed' })
    await expectCode(keys.remove('o', 'alice'), 'key_missing', 'alice')
    await expectCode(keys.rotate('o', 'alice', 0), 'key_missing')
    await expectCode(keys.remove('o', 'bob'), 'last_key')
  })

  it('two servers that remove the last two keys at once leave one of them', async () => {
    await keys.add('o', 'alice')
    await keys.add('o', 'bob')
    const other = open()
    const results = await Promise.allSettled([keys.remove('o', 'alice'), other.remove('o', 'bob')])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    const states = (await keys.list('o')).map(({ state }) => state)
    expect(states.sort()).toEqual(['live', 'removed'])
  })

  it('what goes on under a key ends once another server has removed it, and nothing else does', async () => {
    const master = await openMasterKey({ data: '', key: '11'.repeat(32) })
    const tokens = new TokenKeeper({
      store: new MemoryTokenStore(),
      master,
      clock: { nowMs: () => nowMs },
    })
    const watch = new AccessWatch(tokens, keys, () => nowMs)
    const ended: string[] = []
    for (const name of ['alice', 'bob']) {
      const { secret } = await keys.add('o', name)
      const key = (await keys.find(hashSecret(secret)))!.id
      watch.add({ actor: name as ActorId, owner: 'o', key }, () => ended.push(name))
    }
    await watch.look()
    expect(ended).toEqual([])
    await open().remove('o', 'alice')
    await watch.look()
    expect(ended).toEqual(['alice'])
    watch.close()
  })

  it('two servers that add the same name at once make one key', async () => {
    const results = await Promise.allSettled([keys.add('o', 'alice'), open().add('o', 'alice')])
    const refused = results.find(({ status }) => status === 'rejected') as PromiseRejectedResult
    expect(await codeOf(Promise.reject(refused.reason))).toBe('key_exists')
    expect(await keys.list('o')).toHaveLength(1)
  })
})
