import { existsSync, readFileSync, rmSync, statfsSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const megabyte = 1 << 20

describe.skipIf(noMount)('a mount with a quota', { timeout: 120_000 }, () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  const quota = (...options: string[]): Promise<unknown> =>
    site.cairn(['ws', 'quota', 'demo', ...options])

  /** How many bytes a program was told are written before it was told EDQUOT. */
  async function fill(mount: SiteMount, name: string, blockBytes: number): Promise<number> {
    // Without zeros, which the end of a block is stored without.
    const script = `yes | dd of=${name} iflag=fullblock bs=${blockBytes} count=1000 2>&1 || true`
    const said = await mount.sh(script)
    expect(said).toMatch(/[Qq]uota exceeded/)
    return Number(/(\d+) bytes/.exec(said)![1])
  }

  it('dd until EDQUOT: all that was acknowledged is at the server, and deleting makes room', async () => {
    await quota('--max-bytes', '8MiB')
    const mount = await site.mount()
    const written = await fill(mount, 'full', 65_536)
    expect(written).toBeGreaterThan(7 * megabyte)
    expect(written).toBeLessThanOrEqual(8 * megabyte)
    const before = readFileSync(mount.path('full'))
    await mount.drain()
    expect((await mount.status()).errors).toEqual([])
    const other = await site.mount('/', '--read-only')
    expect(readFileSync(other.path('full')).equals(before)).toBe(true)

    rmSync(mount.path('full'))
    writeFileSync(mount.path('again'), Buffer.alloc(4 * megabyte, 1))
    await mount.drain()
    // Readers cost a writer nothing: no writer waits until they know.
    await expect
      .poll(() => statSync(other.path('again'), { throwIfNoEntry: false })?.size)
      .toBe(4 * megabyte)
    expect((await mount.status()).errors).toEqual([])
  })

  it('files until EDQUOT, and the room that statfs shows', async () => {
    await quota('--max-bytes', '64MiB', '--max-files', '20')
    const mount = await site.mount()
    const made = await mount.sh(
      'n=0; while touch file-$n 2>/dev/null && [ $n -lt 100 ]; do n=$((n+1)); done; echo $n',
    )
    expect(Number(made)).toBe(20)
    await mount.drain()
    expect((await mount.status()).errors).toEqual([])
    const { blocks, bfree, bsize, files, ffree } = statfsSync(mount.directory)
    expect({ bytes: blocks * bsize, files }).toEqual({ bytes: 64 * megabyte, files: 20 })
    expect({ free: bfree * bsize, ffree }).toEqual({ free: 64 * megabyte, ffree: 0 })
  })

  it('lowered and raised under a live mount: nothing acknowledged is refused', async () => {
    const mount = await site.mount()
    writeFileSync(mount.path('first'), Buffer.alloc(3 * megabyte, 1))
    await quota('--max-bytes', '4MiB')
    const written = await fill(mount, 'second', 65_536)
    expect(written).toBeLessThanOrEqual(megabyte)
    await quota('--max-bytes', '1MiB')
    // Node.js has no name for it.
    expect(() => writeFileSync(mount.path('third'), 'x')).toThrow('-122')
    await quota('--max-bytes', 'none')
    writeFileSync(mount.path('fourth'), Buffer.alloc(8 * megabyte, 1))
    await mount.drain()
    expect((await mount.status()).errors).toEqual([])
    const other = await site.mount('/', '--read-only')
    expect(statSync(other.path('second')).size).toBe(written)
    expect(statSync(other.path('fourth')).size).toBe(8 * megabyte)
    expect(existsSync(other.path('third'))).toBe(true)
  })

  it("a layer's quota holds for all of its writers together", async () => {
    await site.cairn(['fs', 'layer', 'create', ':/', '--name', 'a', '--max-bytes', '4MiB'])
    const one = await site.mount('/', '--layer', 'a')
    const two = await site.mount('/', '--layer', 'a')
    const written = await Promise.all([fill(one, 'one', 65_536), fill(two, 'two', 65_536)])
    const sum = written[0] + written[1]
    expect(sum).toBeGreaterThan(3 * megabyte)
    expect(sum).toBeLessThanOrEqual(4 * megabyte)
    await Promise.all([one.drain(), two.drain()])
    const { stdout } = await site.cairn(['fs', 'layer', 'status', 'a', '--json'])
    const { used } = JSON.parse(stdout) as { used: { bytes: number; files: number } }
    expect(used).toEqual({ bytes: sum, files: 2 })
  })
})
