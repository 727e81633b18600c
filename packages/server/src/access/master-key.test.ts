import { chmod, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openMasterKey } from './master-key.ts'
import { expectCode } from '@cairn/core/conformance'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'

const hex = 'ab'.repeat(32)
const base64 = Buffer.from(hex, 'hex').toString('base64')

describe('the master key', () => {
  it('the master key is made once, for its owner alone, and is the same at the next start', () =>
    withTemporaryDirectory(async (data) => {
      const first = await openMasterKey({ data })
      const again = await openMasterKey({ data })
      expect(again.id).toBe(first.id)
      expect(again.derive('x')).toEqual(first.derive('x'))
      expect(again.derive('x')).not.toEqual(first.derive('y'))
      expect((await stat(join(data, 'master-key'))).mode & 0o777).toBe(0o600)
    }))

  it('several starts at once make one key', () =>
    withTemporaryDirectory(async (data) => {
      const keys = await Promise.all(Array.from({ length: 8 }, () => openMasterKey({ data })))
      expect(new Set(keys.map(({ id }) => id)).size).toBe(1)
    }))

  it('the master key is the same from the environment, a file and a command, in hex and in base64', () =>
    withTemporaryDirectory(async (data) => {
      const file = join(data, 'keys')
      await writeFile(file, `# of the team\n${base64}\n`)
      const ids = [
        await openMasterKey({ data, key: hex }),
        await openMasterKey({ data, key: base64 }),
        await openMasterKey({ data, file }),
        await openMasterKey({ data, command: `printf %s ${hex}` }),
      ].map(({ id }) => id)
      expect(new Set(ids).size).toBe(1)
    }))

  it('a successor is taken into use, and the one before it stays known', () =>
    withTemporaryDirectory(async (data) => {
      const keys = await openMasterKey({ data })
      const [before, derived] = [keys.id, keys.derive('x')]
      const elsewhere = await openMasterKey({ data })
      const { id } = await keys.renew()
      expect(id).not.toBe(before)
      expect(keys.id).toBe(id)
      expect((await keys.find(before))?.derive('x')).toEqual(derived)
      // A reader that does not know it looks again.
      expect(elsewhere.id).toBe(before)
      expect((await elsewhere.find(id))?.id).toBe(id)
      expect((await readFile(join(data, 'master-key'), 'utf8')).trim().split('\n')).toHaveLength(2)
    }))

  it('several successors at once are all kept', () =>
    withTemporaryDirectory(async (data) => {
      const keys = await openMasterKey({ data })
      const made = await Promise.all([1, 2, 3, 4].map(() => keys.renew()))
      const ids = new Set(made.map(({ id }) => id))
      expect(ids.size).toBe(4)
      const again = await openMasterKey({ data })
      expect(again.known).toHaveLength(5)
      expect(again.known.map(({ id }) => id)).toEqual(expect.arrayContaining([...ids]))
    }))

  it('a list that the operator keeps is read again, and never written', () =>
    withTemporaryDirectory(async (data) => {
      const file = join(data, 'keys')
      await writeFile(file, `${base64}\n`)
      const keys = await openMasterKey({ data, file })
      const before = keys.id
      await writeFile(file, `${'cd'.repeat(32)}\n${base64}\n`)
      await chmod(file, 0o400)
      expect((await keys.renew()).id).not.toBe(before)
      expect((await keys.find(before))?.id).toBe(before)
    }))

  it.each([
    ['one that is too short', { key: 'abcd' }],
    ['none', { key: ' \n# nothing' }],
    ['a file that is not there', { file: '/nonexistent/keys' }],
    ['a command that fails', { command: `echo ${hex}; exit 3` }],
  ])('%s is refused, and no key is in the message', (_, options) =>
    withTemporaryDirectory(async (data) => {
      const opening = openMasterKey({ data, ...options })
      await expectCode(opening, 'storage_misconfigured')
      await expect(opening).rejects.not.toThrow(/abab/)
    }),
  )

  it('servers that share a database and were given none say so when it is needed', () =>
    withTemporaryDirectory(async (data) => {
      const keys = await openMasterKey({ data, isShared: true })
      expect(() => keys.derive('x')).toThrow(/need the same master key/)
    }))
})
