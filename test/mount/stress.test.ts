import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0
}

/** Those of a row run at the same time. With fewer bytes than their defaults, which are made for disks to sweat. */
const stressors: readonly (readonly string[])[] = [
  ['chmod', 'chown', 'dentry', 'dir', 'link', 'rename'],
  ['open', 'symlink', 'touch', 'utime', 'xattr', 'flock'],
  ['copy-file --copy-file-bytes 128m', 'fallocate --fallocate-bytes 8m', 'hdd --hdd-bytes 8m'],
  ['mmap --mmap-bytes 4m --mmap-file', 'seek --seek-size 8m', 'lockf'],
]

describe.skipIf(noMount)('under stress', () => {
  let site: Site
  let mount: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/')
  })
  afterAll(() => site.close())

  const fio = (name: string, how: string): string =>
    `fio --name=${name} ${how} --bs=4k --size=8m --verify=crc32c --verify_fatal=1 --output-format=terse`

  // The fifth field of what it prints is the error.
  const errorOf = (output: string): string | undefined => output.split(';')[4]

  const jobs = [
    ['write', '--rw=write --ioengine=psync'],
    ['randwrite', '--rw=randwrite --ioengine=psync'],
    ['mmap', '--rw=randwrite --ioengine=mmap'],
    ['direct', '--rw=randwrite --ioengine=psync --direct=1'],
  ] as const

  it.skipIf(!has('fio')).each(jobs)(
    'fio, %s: every byte is as it was written',
    async (name, how) => {
      expect(errorOf(await mount.sh(fio(name, `${how} --do_verify=1`)))).toBe('0')
    },
  )

  it.skipIf(!has('fio'))('fio: so it is in another place', async () => {
    await mount.drain()
    const later = await site.mount('/')
    for (const [name, how] of jobs)
      expect(errorOf(await later.sh(fio(name, `${how} --verify_only`)))).toBe('0')
    await later.unmount()
  })

  it.skipIf(!has('fio'))(
    'fio, reading and writing at random: every byte is as it was written',
    async () => {
      const output = await mount.sh(fio('randrw', '--rw=randrw --ioengine=psync --do_verify=1'))
      expect(errorOf(output)).toBe('0')
    },
  )

  it
    .skipIf(!has('stress-ng'))
    .each(
      stressors.map((row) => ({ row, names: row.map((each) => each.split(' ')[0]).join(', ') })),
    )('stress-ng, $names: no complaint', async ({ row }) => {
    const words = row.map(
      (each) => `--${each.replace(' ', ' 1 ')}${each.includes(' ') ? '' : ' 1'}`,
    )
    const { code, stdout, stderr } = await mount.trySh(
      `mkdir stress; stress-ng ${words.join(' ')} --timeout 1 --verify --temp-path ./stress 2>&1; rm -r stress`,
    )
    expect({ code, complaints: `${stdout}${stderr}`.match(/.*(fail:|error:).*/g) }).toEqual({
      code: 0,
      complaints: null,
    })
  })

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

describe.skipIf(noMount)('a sandbox that is killed while sqlite commits', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(() => site.close())

  // Without EXTRA, SQLite does not sync the directory after it has deleted its journal, and may lose the last commit.
  const insert = 'pragma synchronous=extra; insert into t'
  for (const mode of ['delete', 'wal'])
    it.skipIf(!has('sqlite3')).each(everyRun)(
      `journal_mode=${mode}: the next one finds it whole, with all that was committed (run %i)`,
      async () => {
        const mount = await site.mount('/')
        const committed = join(site.directory, 'committed')
        await mount.sh(`sqlite3 db "pragma journal_mode=${mode}; create table t(i)"`)
        const inserting = mount.trySh(
          `i=0; while i=$((i+1)); do sqlite3 db "${insert} values($i)"; echo $i > ${committed}; done`,
        )
        const count = (): number => Number(existsSync(committed) && readFileSync(committed, 'utf8'))
        await expect.poll(count).toBeGreaterThan(8)
        await mount.kill()
        expect((await inserting).code).not.toBe(0)
        const told = count()
        const later = await site.mount('/')
        const ask = 'pragma integrity_check; select count(*), max(i) from t'
        const seen = await later.sh(`sqlite3 db "${ask}"`)
        // The last one may have been committed without an answer.
        expect([told, told + 1].map((rows) => `ok\n${rows}|${rows}\n`)).toContain(seen)
      },
    )
})
