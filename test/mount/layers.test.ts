import { closeSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

describe.skipIf(noMount)('attempts in mounts of their own', () => {
  let site: Site
  const layer = async (...words: string[]): Promise<string> =>
    (await site.cairn(['fs', 'layer', ...words])).stdout

  const attempt = async (name: string): Promise<SiteMount> => {
    await layer('create', ':/repo', '--name', name)
    return site.mount('/repo', '--layer', name)
  }

  beforeEach(async () => {
    site = await Site.open()
    const main = await site.mount('/repo')
    await main.sh('mkdir src; echo base > src/auth.ts; echo same > README.md')
    await main.unmount()
  })
  afterEach(() => site.close())

  it('two attempts, a checkpoint, a commit, a conflict, a resolution', async () => {
    const [a, b] = [await attempt('fix-a'), await attempt('fix-b')]
    await a.sh('echo of a > src/auth.ts; echo new > src/a.ts')
    await b.sh('echo of b > src/auth.ts; mkdir -p node_modules/x; echo dep > node_modules/x/y')
    await layer('checkpoint', 'fix-a', '--label', 'tests-pass')
    await layer('commit', 'fix-a')
    // The base is frozen: nothing moves under a running attempt.
    expect(await b.sh('cat src/auth.ts; ls src')).toBe('of b\nauth.ts\n')
    const refused = await site.tryCairn(['fs', 'layer', 'commit', 'fix-b'])
    expect([refused.code, refused.stderr]).toEqual([
      9,
      expect.stringContaining('/repo/src/auth.ts'),
    ])
    // A program in the mount sees it there, too, with what to do.
    expect(await b.sh('cat .cairn/conflicts; ls .cairn')).toMatch(
      /^a commit of fix-b would meet:\n {2}edit\/edit \/repo\/src\/auth.ts\ndecide each: .*--ours/,
    )
    expect(await a.sh('cat .cairn/conflicts')).toBe('no conflicts\n')
    await layer('resolve', 'fix-b', '/repo/src/auth.ts', '--ours')
    expect(await b.sh('cat .cairn/conflicts')).toBe('no conflicts\n')
    await layer('rebase', 'fix-b')
    await layer('commit', 'fix-b')
    const main = await site.mount('/repo')
    expect(await main.sh('cat src/auth.ts src/a.ts node_modules/x/y')).toBe('of b\nnew\ndep\n')
  })

  it('a checkpoint has every write that was acknowledged before it', async () => {
    const a = await attempt('fix')
    await a.sh('for i in $(seq 300); do echo $i > f$i; done')
    await layer('checkpoint', 'fix', '--label', 'all')
    const { stdout } = await site.cairn([
      'fs',
      'cat',
      ':/repo/f300',
      '--layer',
      'fix',
      '--at',
      'all',
    ])
    expect(stdout).toBe('300\n')
  })

  it('a rollback reaches a live mount, files of every kind, and can be undone', async () => {
    const a = await attempt('fix')
    await layer('checkpoint', 'fix', '--label', 'before')
    await a.sh('echo broken > src/auth.ts; mkdir dep; echo x > dep/x; rm README.md; ls -R . src')
    await layer('rollback', 'fix', '--to', 'before')
    expect(await a.sh('cat src/auth.ts README.md; ls')).toBe('base\nsame\nREADME.md\nsrc\n')
    await layer('undo', 'fix')
    expect(await a.sh('cat src/auth.ts dep/x; ls')).toBe('broken\nx\ndep\nsrc\n')
  })

  it('what is open over a rollback is the old file or stale, never a mixture', async () => {
    const a = await attempt('fix')
    await layer('checkpoint', 'fix', '--label', 'before')
    await a.sh('head -c 300000 /dev/zero | tr "\\0" n > big')
    const fd = openSync(a.path('big'), 'r')
    await layer('rollback', 'fix', '--to', 'before')
    const bytes = Buffer.alloc(300_000)
    let seen: string
    try {
      const length = readSync(fd, bytes, 0, bytes.length, 0)
      seen = new Set(bytes.subarray(0, length).toString()).size <= 1 ? 'old' : 'mixed'
    } catch (error) {
      // Node has no name for it.
      seen = (error as NodeJS.ErrnoException).errno === -116 ? 'ESTALE' : String(error)
    }
    closeSync(fd)
    expect(['old', 'ESTALE']).toContain(seen)
    expect(() => readFileSync(a.path('big'))).toThrow('ENOENT')
  })

  /** What a read gives: which bytes, or that the file is another one by now. */
  const look = (fd: number, offset: number): string => {
    const bytes = Buffer.alloc(100_000)
    try {
      const length = readSync(fd, bytes, 0, bytes.length, offset)
      return [...new Set(bytes.subarray(0, length).toString())].join('')
    } catch (error) {
      return errnoOf(error)
    }
  }

  const errnoOf = (error: unknown): string => {
    const { errno, message } = error as NodeJS.ErrnoException
    // Node has no name for it.
    return errno === -116 ? 'ESTALE' : message
  }

  const fill = (letter: string): string => `head -c 3000000 /dev/zero | tr "\\0" ${letter} > big`

  it('a file that was half read when it was rolled back is the old one to its end, or stale', async () => {
    const a = await attempt('fix')
    await a.sh(`${fill('o')}; ln big also`)
    await layer('checkpoint', 'fix', '--label', 'before')
    await a.sh(fill('n'))
    const { ino } = statSync(a.path('big'))
    const fd = openSync(a.path('big'), 'r+')
    expect(look(fd, 0)).toBe('n')
    await layer('rollback', 'fix', '--to', 'before')
    for (const offset of [0, 100_000, 1_500_000, 2_900_000])
      expect(['n', 'ESTALE'], `at ${offset}`).toContain(look(fd, offset))
    expect(() => writeSync(fd, 'late', 1_500_000)).toThrow(expect.objectContaining({ errno: -116 }))
    for (const name of ['big', 'also']) {
      const again = openSync(a.path(name), 'r')
      for (const offset of [0, 1_500_000, 2_900_000]) expect(look(again, offset)).toBe('o')
      expect(statSync(a.path(name)).ino).toBe(ino)
      closeSync(again)
    }
    closeSync(fd)
  })

  it('a file opened before and after a rollback is two files, also for the next daemon', async () => {
    const a = await attempt('fix')
    await a.sh(fill('o'))
    await layer('checkpoint', 'fix', '--label', 'before')
    await a.sh(fill('n'))
    const before = openSync(a.path('big'), 'r+')
    await layer('rollback', 'fix', '--to', 'before')
    const after = openSync(a.path('big'), 'r')
    process.kill((await a.status()).pid, 'SIGKILL')
    expect(look(after, 2_000_000)).toBe('o')
    expect(['n', 'ESTALE']).toContain(look(before, 2_000_000))
    expect(() => writeSync(before, 'late')).toThrow(expect.objectContaining({ errno: -116 }))
    closeSync(before)
    closeSync(after)
  })

  it('a commit does not change half of a file that a program reads', async () => {
    const a = await attempt('fix')
    await a.sh(fill('o'))
    await layer('commit', 'fix')
    const b = await attempt('next')
    const main = await site.mount('/repo')
    const fd = openSync(main.path('big'), 'r')
    expect(look(fd, 0)).toBe('o')
    await b.sh(fill('n'))
    await layer('commit', 'next')
    expect(await main.sh('head -c 1 big; tail -c 1 big')).toBe('nn')
    expect(['o', 'ESTALE']).toContain(look(fd, 1_500_000))
    closeSync(fd)
  })

  it('the past is mounted read-only, stays as it was, and outlives a daemon and a server', async () => {
    const a = await attempt('fix')
    await a.sh('echo tried > src/auth.ts; ln -s auth.ts src/link; truncate -s 1M src/hole')
    await layer('checkpoint', 'fix', '--label', 'then')
    await a.sh('echo broken > src/auth.ts; rm -r src/link; echo later > src/later')
    const past = await site.mount('/repo', '--layer', 'fix', '--checkpoint', 'then')
    expect(await past.sh('ls src; cat src/link; stat -c "%s %b" src/hole')).toBe(
      'auth.ts\nhole\nlink\ntried\n1048576 0\n',
    )
    for (const change of ['echo x > src/auth.ts', 'touch new', 'rm README.md', 'mv src other']) {
      const ran = await past.trySh(change)
      expect([ran.code > 0, ran.stderr], change).toEqual([
        true,
        expect.stringContaining('Read-only file system'),
      ])
    }
    const { pid } = await past.status()
    process.kill(pid, 'SIGKILL')
    await layer('rollback', 'fix', '--to', 'base')
    await layer('commit', 'fix')
    await site.stopServer('SIGKILL')
    await site.startServer()
    // Not in any cache: it must be fetched.
    expect(await past.sh('cat src/auth.ts README.md; ls')).toBe('tried\nsame\nREADME.md\nsrc\n')
  })

  it('a commit to main is seen by a live mount of main', async () => {
    const main = await site.mount('/repo')
    expect(await main.sh('cat src/auth.ts')).toBe('base\n')
    const a = await attempt('fix')
    await a.sh('echo fixed > src/auth.ts; echo new > src/new.ts')
    await layer('commit', 'fix')
    expect(await main.sh('cat src/auth.ts src/new.ts')).toBe('fixed\nnew\n')
  })
})
