import {
  closeSync,
  openSync,
  readSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from '../mount/fixture.ts'

const largest = 2 ** 44

describe.skipIf(noMount)('the largest file, in a mount', { timeout: 120_000 }, () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  it('one writer or two: 16 TiB and no byte more, and a hole is read without the server’s memory', async () => {
    const [first, second] = [await site.mount(), await site.mount()]
    for (const [name, mount] of Object.entries({ alone: first, shared: second })) {
      const path = mount.path(name)
      writeFileSync(path, 'first')
      truncateSync(path, largest)
      expect(() => truncateSync(path, largest + 1)).toThrow('EFBIG')
      const file = openSync(path, 'r+')
      expect(() => writeSync(file, 'x', largest)).toThrow('EFBIG')
      writeSync(file, 'x', largest - 1)
      const seen = Buffer.alloc(3)
      readSync(file, seen, 0, 3, largest - 3)
      expect(seen.toString()).toBe('\0\0x')
      closeSync(file)
      expect(statSync(path).size).toBe(largest)
      await mount.drain()
      expect((await mount.status()).errors).toEqual([])
    }
  })
})
