import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0
}

describe.skipIf(noMount)('under stress', () => {
  let site: Site
  let mount: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/')
  })
  afterAll(() => site.close())

  it.skipIf(!has('fio')).each(['write', 'randwrite', 'randrw'])(
    'fio, %s with verification: every byte is as it was written',
    async (pattern) => {
      const output = await mount.sh(
        `fio --name=f --rw=${pattern} --bs=4k --size=16m --verify=crc32c --verify_fatal=1 ` +
          '--do_verify=1 --fsync_on_close=0 --ioengine=psync --output-format=terse',
      )
      // The fifth field is the error.
      expect(output.split(';')[4]).toBe('0')
    },
  )

  it
    .skipIf(!has('stress-ng'))
    .each(['dentry', 'dir', 'fallocate', 'hdd', 'link', 'rename', 'symlink', 'utime', 'xattr'])(
    'stress-ng --%s --verify: no complaint',
    async (stressor) => {
      mkdirSync(mount.path(stressor))
      // Fewer bytes than its defaults, which are made for disks to sweat.
      const sizes = stressor === 'hdd' || stressor === 'fallocate' ? `--${stressor}-bytes 8m` : ''
      const { code, stdout, stderr } = await mount.trySh(
        `stress-ng --${stressor} 1 ${sizes} --timeout 2 --verify --temp-path ./${stressor} 2>&1`,
      )
      expect({ code, complaints: `${stdout}${stderr}`.match(/.*(fail:|error:).*/g) }).toEqual({
        code: 0,
        complaints: null,
      })
    },
  )

  it.skipIf(!has('sqlite3'))('sqlite, the daemon killed in the middle: whole', async () => {
    const insert = 'for i in $(seq 200); do sqlite3 db "insert into t values($i)"; done'
    await mount.sh('sqlite3 db "create table t(i)"')
    const inserting = mount.sh(insert)
    process.kill((await mount.status()).pid, 'SIGKILL')
    await inserting
    const ask = 'pragma integrity_check; select count(*) from t'
    expect(execFileSync('sqlite3', [mount.path('db'), ask]).toString()).toBe('ok\n200\n')
  })
})
