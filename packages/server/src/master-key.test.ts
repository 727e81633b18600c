import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMasterKey } from './master-key.ts'
import { expectCode } from './testing/store-test.ts'
import { withTemporaryDirectory } from './testing/temporary-directory.ts'

const hex = '0f'.repeat(32)

describe('the master key', () => {
  it('is made once, for its owner alone, and is the same at the next start', async () => {
    await withTemporaryDirectory(async (data) => {
      const made = await openMasterKey({ data })
      const file = join(data, 'master-key')
      expect((await stat(file)).mode & 0o777).toBe(0o600)
      const text = await readFile(file, 'utf8')
      const again = await openMasterKey({ data })
      expect([again.id, again.derive('x')]).toEqual([made.id, made.derive('x')])
      expect(await readFile(file, 'utf8')).toBe(text)
    })
  })

  it('is given as hexadecimal or base64, by itself or in a file; then none is made', async () => {
    await withTemporaryDirectory(async (data) => {
      const file = join(data, 'key')
      const base64 = Buffer.from(hex, 'hex').toString('base64')
      await writeFile(file, `${base64}\n`)
      const keys = [
        await openMasterKey({ data, key: hex }),
        await openMasterKey({ data, key: base64 }),
        await openMasterKey({ data, file, isShared: true }),
      ]
      expect(new Set(keys.map(({ id }) => id)).size).toBe(1)
      await expect(stat(join(data, 'master-key'))).rejects.toThrow(/ENOENT/)
    })
  })

  it('gives another 32 bytes for each purpose, and its id is none of them', async () => {
    const key = await openMasterKey({ data: '', key: hex })
    const [one, other] = [key.derive('token:a'), key.derive('token:b')]
    expect(one.length).toBe(32)
    expect(Buffer.from(one).equals(other)).toBe(false)
    expect(hex).not.toContain(key.id)
  })

  it('servers that share a database must be given one; what is no key is none', async () => {
    await withTemporaryDirectory(async (data) => {
      await expectCode(openMasterKey({ data, isShared: true }), 'storage_misconfigured')
      await expectCode(openMasterKey({ data, key: 'abc' }), 'storage_misconfigured')
      await expectCode(openMasterKey({ data, file: join(data, 'no') }), 'storage_misconfigured')
    })
  })
})
