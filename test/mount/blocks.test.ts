// How many blocks files take, as `stat`, `du` and `tar --sparse` see it.
import { execFileSync } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openSync,
  rmSync,
  statSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const KiB = 1024
const block = 256 * KiB
const sector = 512

/** Holes of whole blocks of 256 KiB, and data between them: here Cairn and the disk can say the same. */
const aligned: readonly ((path: string) => void)[] = [
  (path) => write(path, 3 * block, 'a'.repeat(block)),
  (path) => truncateSync(path, 20 * block),
  (path) => write(path, 0, 'b'.repeat(2 * block)),
  (path) => write(path, 3 * block + 8 * KiB, 'c'.repeat(4 * KiB)),
  (path) => write(path, 18 * block, 'd'.repeat(2 * block)),
  (path) => punch(path, block, block),
  (path) => punch(path, 3 * block + 4 * KiB, 4 * KiB),
  (path) => truncateSync(path, 19 * block),
  (path) => truncateSync(path, 30 * block),
]

/** Holes, cuts and zeros within blocks. */
const unaligned: readonly ((path: string) => void)[] = [
  (path) => write(path, 0, 'head'),
  (path) => write(path, 40 * block - 4, 'tail'),
  (path) => write(path, 5 * block + 4 * KiB, 'x'.repeat(4 * KiB)),
  (path) => write(path, 5 * block + 100 * KiB, 'y'.repeat(4 * KiB)),
  (path) => write(path, 5 * block + 100 * KiB, 'z'.repeat(4 * KiB)),
  (path) => write(path, 7 * block, `w${'\0'.repeat(64 * KiB)}`),
  (path) => punch(path, 5 * block + 102 * KiB, 2 * KiB),
  (path) => truncateSync(path, 5 * block + 50 * KiB),
]

function write(path: string, offset: number, text: string): void {
  const file = openSync(path, 'r+')
  writeSync(file, text, offset)
  closeSync(file)
}

function punch(path: string, offset: number, length: number): void {
  execFileSync('sh', ['-c', `fallocate -p -o ${offset} -l ${length} "$0"`, path])
}

function blocksOf(path: string): number {
  return Number(execFileSync('stat', ['-c', '%b', path], { encoding: 'utf8' }))
}

describe.skipIf(noMount)('blocks of a sparse file', () => {
  let site: Site
  let [writer, other]: SiteMount[] = []
  let disk: string

  beforeEach(async () => {
    site = await Site.open()
    writer = await site.mount('/')
    other = await site.mount('/')
    disk = mkdtempSync(join(tmpdir(), 'cairn-blocks-'))
  })
  afterEach(async () => {
    rmSync(disk, { recursive: true })
    await site.close()
  })

  /** What a mount shows that knows nothing yet, which the others show soon. */
  async function settled(): Promise<number> {
    await writer!.drain()
    const fresh = await site.mount('/')
    const told = blocksOf(fresh.path('f'))
    for (const mount of [writer!, other!, fresh])
      await expect.poll(() => blocksOf(mount.path('f')), { timeout: 20_000 }).toBe(told)
    await fresh.unmount()
    return told
  }

  it('writer, another mount and a new one show the same after any change, and the disk agrees', async () => {
    const [file, twin] = [writer!.path('f'), join(disk, 'f')]
    for (const path of [file, twin]) closeSync(openSync(path, 'w'))
    for (const [at, change] of aligned.entries()) {
      for (const path of [file, twin]) change(path)
      if (at % 3 < 2) continue
      const told = await settled()
      // The disk has pages of 4 KiB; a punched page at the end of a block's data it has no more.
      expect(Math.abs(told - blocksOf(twin)) * sector).toBeLessThanOrEqual(8 * KiB)
    }
  })

  it('holes within blocks: the same on all mounts, never less than the disk has, also after a restart', async () => {
    const [file, twin] = [writer!.path('f'), join(disk, 'f')]
    for (const path of [file, twin]) closeSync(openSync(path, 'w'))
    for (const change of unaligned.slice(0, 5)) for (const path of [file, twin]) change(path)
    const first = await settled()
    expect(first * sector).toBeGreaterThanOrEqual(blocksOf(twin) * sector - 16 * KiB)
    await site.stopServer()
    await site.startServer()
    const before = await settled()
    expect(before).toBe(first)
    for (const change of unaligned.slice(5)) change(file)
    const after = await settled()
    expect(after).toBeLessThan(before)
    // A new layer begins with a fold, which reads the bytes and knows best.
    await site.cairn(['fs', 'layer', 'create', ':/copy'])
    expect(await settled()).toBe(after)
    expect(after).toBe(Math.ceil(('head'.length + 8 * KiB) / sector))
  })

  it('tar --sparse of a new mount brings back the same file, with its holes', async () => {
    closeSync(openSync(writer!.path('f'), 'w'))
    for (const change of unaligned.slice(0, 6)) change(writer!.path('f'))
    const told = await settled()
    const archive = join(disk, 'f.tar')
    execFileSync('tar', ['--sparse', '-C', other!.directory, '-cf', archive, 'f'])
    // SEEK_DATA and SEEK_HOLE know whole blocks, of which four have data.
    expect(statSync(archive).size).toBeLessThan(4 * block + 64 * KiB)
    const copy = await site.mount('/')
    await copy.sh(`mkdir copy && tar --sparse -C copy -xf ${archive} && cmp f copy/f`)
    await copy.drain()
    for (const mount of [writer!, copy])
      await expect.poll(() => blocksOf(mount.path('copy/f')), { timeout: 20_000 }).toBe(told)
  })
})
