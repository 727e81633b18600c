import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

const isRoot = process.getuid?.() === 0

describe.skipIf(noMount)('what a mount says of itself', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  it('a server that keeps its connections and answers nothing is away, and it says for how long', async () => {
    const mount = await site.mount('/')
    expect(await mount.status()).toMatchObject({ connected: true })
    site.haltServer()
    await expect.poll(async () => (await mount.status()).connected).toBe(false)
    expect((await mount.status()).silentMs).toBeGreaterThan(1000)
    const text = readFileSync(mount.path('.cairn/status'), 'utf8')
    expect(text).toMatch(/^connected: no, nothing heard for \d+ s$/m)
    expect(text).toMatch(/^waiting for: the server http/m)
    site.resumeServer()
    await expect.poll(async () => (await mount.status()).connected).toBe(true)
    expect(readFileSync(mount.path('.cairn/status'), 'utf8')).not.toContain('waiting for:')
  })

  it.skipIf(!isRoot)(
    'a mount on a full disk says that it waits for room (needs root)',
    async () => {
      const home = 'sandbox-9'
      const [disk, work] = [join(site.directory, 'disk'), join(site.directory, home, 'work')]
      mkdirSync(disk)
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk])
      try {
        writeFileSync(join(disk, 'filler'), Buffer.alloc(64 << 10))
        const mounting = site.startCairn(['mount', ':/', work, '--cache-dir', disk], home)
        let said = ''
        mounting.stderr!.on('data', (data: Buffer) => (said += data.toString()))
        const ended = once(mounting, 'exit')
        await expect.poll(() => said).toMatch(/waiting for room on the disk of .*disk.*Ctrl-C/)
        rmSync(join(disk, 'filler'))
        execFileSync('mount', ['-o', 'remount,size=8m', disk])
        expect(await ended).toEqual([0, null])
        await site.cairn(['umount', work], home)
      } finally {
        execFileSync('umount', ['-l', disk])
      }
    },
  )
})
