import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

const noRoot = noMount ?? (process.getuid?.() === 0 ? undefined : 'needs root')

describe.skipIf(noRoot)('umount(8) at once', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  it.each(everyRun)('right after mounting: it is not busy (run %i)', async () => {
    for (let round = 0; round < 3; round++) {
      const { directory } = await site.mount('/')
      const { stderr } = await promisify(execFile)('umount', [directory])
      expect(stderr).toBe('')
    }
  })
})
