import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { outcome } from './questions/place.ts'
import { everyRun } from './random/seeds.ts'

describe.skipIf(noMount)('a mount whose processes, server or sandbox go away', () => {
  let site: Site
  let a: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    a = await site.mount('/')
  })
  afterEach(() => site.close())

  it('the daemon is killed: programs with open files see a pause, and nothing is missing', async () => {
    const fd = openSync(a.path('open'), 'w+')
    writeSync(fd, 'before ')
    await a.sh('mkdir d; for i in 1 2 3 4 5 6 7 8 9; do echo $i > d/$i; done')
    const { pid } = await a.status()
    process.kill(pid, 'SIGKILL')
    writeSync(fd, 'after')
    const bytes = Buffer.alloc(12)
    readSync(fd, bytes, 0, 12, 0)
    closeSync(fd)
    expect(bytes.toString()).toBe('before after')
    expect(await a.sh('cat d/*')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n')
    expect((await a.status()).pid).not.toBe(pid)
    await a.drain()
    expect((await site.cairn(['fs', 'cat', ':/open'])).stdout).toBe('before after')
  })

  it.each(everyRun)(
    'the daemon is killed again and again: every file a program made is there, and it saw no error (run %i)',
    async () => {
      const making = a.sh(
        'set -C; for i in $(seq 400); do echo $i > f$i; mkdir d$i; mv f$i d$i/g; done',
      )
      for (let round = 0; round < 3; round++) {
        const { pid } = await a.status().catch(() => ({ pid: 0 }))
        if (pid !== 0) process.kill(pid, 'SIGKILL')
      }
      await making
      expect(await a.sh('cat d*/g | sort -n | tail -1; ls | wc -l; ls d*/g | wc -l')).toBe(
        '400\n400\n400\n',
      )
    },
  )

  it('the server is away: known files are read, writes go on, and all arrives afterwards', async () => {
    await a.sh('mkdir d; echo known > d/known')
    await a.drain()
    await site.stopServer('SIGKILL')
    expect(await a.sh('cat d/known; echo new > d/new; cat d/new; mv d/new d/moved')).toBe(
      'known\nnew\n',
    )
    expect((await a.status()).pendingOps).toBeGreaterThan(0)
    await site.startServer()
    await a.drain()
    expect((await site.cairn(['fs', 'cat', ':/d/moved'])).stdout).toBe('new\n')
  })

  it('everything survives a remount elsewhere, hard links and unusual files included', async () => {
    await a.sh(
      'echo x > f; ln f g; ln -s f s; mkfifo p; mknod c c 1 3; chmod 4751 f; truncate -s 1M sparse; ' +
        'touch -d 2001-02-03T04:05:06.789012345 f',
    )
    // Access times are a reader's; everything else is the file's.
    const look = "stat -c '%n %F %a %h %s %t:%T %y %z %i' f g s p c sparse"
    const before = await a.sh(look)
    await a.unmount()
    const b = await site.mount('/')
    expect(await b.sh(look)).toBe(before)
  })

  it('umount brings everything to the server first', async () => {
    await a.sh('for i in $(seq 200); do echo $i > f$i; done')
    await a.unmount()
    const { stdout } = await site.cairn(['fs', 'cat', ':/f200'])
    expect(stdout).toBe('200\n')
    expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(a.directory)
  })
})

describe.skipIf(noMount)('a mount that waits for the server, and whose sandbox goes away', () => {
  let site: Site

  beforeEach(async () => {
    // Short: the next mount waits for its end.
    site = await Site.open({ leaseMs: 1000 })
  })
  afterEach(() => site.close())

  it('everything is killed as soon as fsync has answered, and the cache is gone: it is there for the next', async () => {
    const mount = await site.mount('/')
    const fd = openSync(mount.path('f'), 'w')
    writeSync(fd, 'precious')
    fsyncSync(fd)
    closeSync(fd)
    await mount.kill()
    const later = await site.mount('/')
    expect(await later.sh('cat f')).toBe('precious')
  })

  it('close-sync: everything is killed as soon as it is closed, and it is there for the next', async () => {
    const mount = await site.mount('/', '--durability', 'close-sync')
    for (const name of ['f1', 'f2', 'f3']) writeFileSync(mount.path(name), name)
    await mount.kill()
    const later = await site.mount('/')
    expect(await later.sh('cat f1 f2 f3')).toBe('f1f2f3')
  })

  it('write-sync: everything is killed before it is closed, and it is there for the next', async () => {
    const mount = await site.mount('/', '--durability', 'write-sync')
    const fd = openSync(mount.path('f'), 'w')
    writeSync(fd, 'written')
    await mount.kill()
    // It fails only where the kernel asks a daemon at each close.
    outcome(() => closeSync(fd))
    const later = await site.mount('/')
    expect(await later.sh('cat f')).toBe('written')
  })
})
