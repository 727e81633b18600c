import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { libc } from '../posix/libc.ts'
import { noMount, Site } from './fixture.ts'

const attribute = Buffer.from('user.cairn.tag.reviewed\0')

describe.skipIf(noMount)('tags in a mount', { timeout: 120_000 }, () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  it('tags in a mount are extended attributes, to be read and written', async () => {
    const mount = await site.mount()
    writeFileSync(mount.path('a.txt'), 'text')
    const path = Buffer.from(`${mount.path('a.txt')}\0`)
    const given = Buffer.from('by hand')
    expect(libc.setxattr(path, attribute, given, given.length, 0)).toBe(0)
    await mount.drain()
    const { stdout } = await site.cairn(['fs', 'tag', ':/a.txt'])
    expect(stdout).toBe('reviewed=by hand\n')

    await site.cairn(['fs', 'tag', ':/a.txt', 'reviewed=over http'])
    const value = Buffer.alloc(100)
    const length = libc.getxattr(path, attribute, value, value.length)
    expect(value.toString('utf8', 0, length)).toBe('over http')
    expect(libc.removexattr(path, attribute)).toBe(0)
    await mount.drain()
    expect((await site.cairn(['fs', 'tag', ':/a.txt'])).stdout).toBe('')
  })
})
