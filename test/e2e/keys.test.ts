// Owner keys as people type them, and their names wherever Cairn says who did something.
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Cairn, type IssuedKey, type KeyInfo } from '@cairn/sdk'
import { describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)

describe('cairn key', () => {
  it('add, ls, rotate and rm', async () => {
    await server.enter('w')
    expect(await cairn.text('key', 'ls')).toMatch(/^NAME .*\ndefault +live .*\n$/)
    const secret = (await cairn.text('key', 'add', 'alice')).trim()
    const as = (key: string) => ({ env: { CAIRN_SERVER: server.url, CAIRN_API_KEY: key } })
    expect((await cairn.run(['ws', 'ls'], as(secret))).code).toBe(0)

    const [rotated] = await cairn.json<IssuedKey>('key', 'rotate', 'alice', '--grace', '1h')
    expect(rotated).toMatchObject({ name: 'alice', state: 'live', graceUntil: expect.any(String) })
    for (const key of [secret, rotated!.secret])
      expect((await cairn.run(['ws', 'ls'], as(key))).code).toBe(0)
    await cairn.text('key', 'rotate', 'alice')
    const old = await cairn.run(['ws', 'ls', '--json'], as(rotated!.secret))
    expect([old.code, old.stderr]).toEqual([3, expect.stringContaining('access_ended')])

    expect(await cairn.text('key', 'rm', 'alice')).toBe('removed key alice\n')
    expect(await cairn.text('key', 'ls')).not.toContain('alice')
    const all = await cairn.json<KeyInfo>('key', 'ls', '--all')
    expect(all.map(({ name, state }) => [name, state])).toEqual([
      ['alice', 'removed'],
      ['default', 'live'],
    ])
    expect(await cairn.error('key', 'rm', 'default')).toMatchObject({ code: 'last_key', exit: 16 })
    expect(await cairn.error('key', 'rm', 'alice')).toMatchObject({ code: 'key_missing', exit: 4 })
    expect(await cairn.error('key', 'add', 'alice')).toMatchObject({ code: 'key_exists', exit: 5 })
    expect(await cairn.error('key', 'add', 'tok_x')).toMatchObject({ code: 'invalid_argument' })
  })

  it('--out writes the secret for its owner alone, and prints it nowhere', async () => {
    const out = join(cairn.home(), 'bob.key')
    writeFileSync(out, 'an older one', { mode: 0o644 })
    const { stdout, stderr } = await cairn.run(['key', 'add', 'bob', '--out', out, '--json'])
    const secret = readFileSync(out, 'utf8').trim()
    expect(secret).toMatch(/^cairn_/)
    expect(statSync(out).mode & 0o777).toBe(0o600)
    expect(`${stdout.toString()}${stderr}`).not.toContain(secret)
    const use = ['ws', 'ls', '--server', server.url, '--api-key-file', out]
    expect((await cairn.run(use)).code).toBe(0)
    expect(await cairn.error('key', 'add', 'bob', '--out', out)).toMatchObject({
      code: 'key_exists',
    })
    expect(readFileSync(out, 'utf8').trim()).toBe(secret)
  })

  it('log, blame, audit, receipts, tokens and journals show the name', async () => {
    const { secret } = await server.cairn.keys.add('carol@example.org')
    const carol = new Cairn({ server: server.url, apiKey: secret }).workspace('w')
    await carol.files.write('/plan', 'one line\n')
    const { actor } = await carol.layers.commit((await carol.layers.create('/')).id)
    const { issuedBy } = await carol.tokens.issue('t', {
      ttlMs: 60_000,
      allow: [{ path: '/', operations: ['read'] }],
    })
    await carol.vault.set('db', { password: 'x' })
    await carol.journals.create('j')
    const receipt = await carol.journals.append('j', [{ type: 'note', summary: 's' }])
    expect([actor, issuedBy]).toEqual(['carol@example.org', 'carol@example.org'])
    const shown = [
      await cairn.text('fs', 'log', '-w', 'w', ':/plan'),
      await cairn.text('fs', 'blame', '-w', 'w', ':/plan'),
      await cairn.text('vault', 'audit', '-w', 'w'),
      await cairn.text('journal', 'cat', '-w', 'w', 'j'),
      await cairn.text('fs', 'log', '-w', 'w', '--actor', 'carol@example.org'),
    ]
    for (const text of shown) expect(text).toContain('carol@example.org')
    expect(JSON.stringify([shown, receipt])).not.toMatch(/key_[0-9a-f]/)
  })
})
