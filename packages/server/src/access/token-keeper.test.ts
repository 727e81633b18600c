import { createHmac } from 'node:crypto'
import { type ActorId, encodeCaveat, makeRule } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { openMasterKey } from './master-key.ts'
import { MemoryTokenStore } from '../testing/memory-token-store.ts'
import { expectCode } from '@cairn/core/conformance'
import { TokenKeeper } from './token-keeper.ts'

const rules = [makeRule('/repo', ['read', 'list'])]

describe('tokens', () => {
  let nowMs = 0
  let store: MemoryTokenStore
  let tokens: TokenKeeper
  const open = async (key = '11'.repeat(32)): Promise<TokenKeeper> =>
    new TokenKeeper({
      store,
      master: await openMasterKey({ data: '', key }),
      clock: { nowMs: () => nowMs },
    })
  const issue = async (ttlMs = 1000, caveat = {}): Promise<string> => {
    const issuedBy = 'key_1' as ActorId
    const wish = {
      owner: 'o',
      workspace: 'w',
      name: 'n',
      issuedBy,
      ttlMs,
      caveat: { rules, ...caveat },
    }
    return (await tokens.issue(wish)).secret
  }

  beforeEach(async () => {
    nowMs = 1_000_000
    store = new MemoryTokenStore()
    tokens = await open()
  })

  it('a true one says whose it is and what it allows; every server with the master key agrees', async () => {
    const secret = await issue()
    const access = { owner: 'o', scope: { workspace: 'w', grant: { rules } } }
    expect(await tokens.authenticate(secret)).toMatchObject(access)
    expect(await (await open()).authenticate(secret)).toMatchObject(access)
    expect(await (await open('22'.repeat(32))).authenticate(secret)).toBe(undefined)
    const rotated = `${'22'.repeat(32)}\n${'11'.repeat(32)}`
    expect(await (await open(rotated)).authenticate(secret)).toMatchObject(access)
  })

  it('one with any character changed is none', async () => {
    const secret = await issue()
    for (let at = 0; at < secret.length; at++) {
      const other = secret[at] === 'A' ? 'B' : 'A'
      const forged = secret.slice(0, at) + other + secret.slice(at + 1)
      expect(await tokens.authenticate(forged), forged).toBe(undefined)
    }
  })

  it('its holder can add a caveat, and cannot remove, change or move one', async () => {
    const secret = await issue()
    const more = encodeCaveat({ deny: ['/repo/x'] })
    const narrowed = withCaveat(secret, more)
    expect(await tokens.authenticate(narrowed)).toMatchObject({
      scope: { grant: { deny: ['/repo/x'] } },
    })
    const [prefix, id, first, , signature] = narrowed.split('.')
    const forgeries = [
      [prefix, id, first, signature],
      [prefix, id, more, signature],
      [prefix, id, more, first, signature],
      [prefix, id, first, encodeCaveat({ deny: [] }), signature],
      // A chain of one's own, under an empty key.
      withCaveat([prefix, id, 'A'.repeat(43)].join('.'), encodeCaveat({})).split('.'),
    ]
    for (const parts of forgeries)
      expect(await tokens.authenticate(parts.join('.')), parts.join('.')).toBe(undefined)
  })

  it('a token with an unknown caveat opens nothing', async () => {
    const later = Buffer.from('{"weekdays":[1,2]}').toString('base64url')
    expect(await tokens.authenticate(withCaveat(await issue(), later))).toBe(undefined)
  })

  it('one that is over says so, by its row or by its own words; refreshed, it lives again', async () => {
    const secret = await issue(1000)
    const short = withCaveat(secret, encodeCaveat({ notAfterMs: nowMs + 500 }))
    nowMs += 500
    await tokens.authenticate(secret)
    await expectCode(tokens.authenticate(short), 'access_ended')
    nowMs += 500
    await expectCode(tokens.authenticate(secret), 'access_ended')
    const { id } = (await store.list('w', undefined, 1))[0]!
    expect(await tokens.extend(id, 1000)).toBe(true)
    expect(await tokens.authenticate(secret)).toBeDefined()
    await expectCode(tokens.authenticate(short), 'access_ended')
    expect(await tokens.revoke(id)).toBe(true)
    await expectCode(tokens.authenticate(secret), 'access_ended')
    expect(await tokens.extend(id, 1000)).toBe(false)
  })

  it('what another server revokes is felt within half a second', async () => {
    const secret = await issue(10_000)
    await tokens.authenticate(secret)
    const { id } = (await store.list('w', undefined, 1))[0]!
    await (await open()).revoke(id)
    nowMs += 500
    await expectCode(tokens.authenticate(secret), 'access_ended')
  })

  it('nothing that is stored opens anything', async () => {
    const secret = await issue()
    const [record] = await store.list('w', undefined, 1)
    const stored = JSON.stringify(record, (_, value: unknown) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64url') : value,
    )
    expect(stored).not.toContain(secret.split('.').at(-1))
  })

  it('more paths than fit into a header are refused when it is issued', async () => {
    const many = Array.from({ length: 100 }, (_, i) => makeRule(`/directory-number-${i}`, ['read']))
    await expectCode(issue(1000, { rules: many }), 'too_large')
  })
})

/** As docs/reference/tokens.md has it. */
function withCaveat(token: string, caveat: string): string {
  const parts = token.split('.')
  const signature = Buffer.from(parts.pop()!, 'base64url')
  return [
    ...parts,
    caveat,
    createHmac('sha256', signature).update(caveat).digest('base64url'),
  ].join('.')
}
