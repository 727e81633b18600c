import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { LockClient } from './lock-client.ts'

function has(program: string): boolean {
  return spawnSync('which', [program]).status === 0
}

const cannot = noMount ?? (has('python3') ? undefined : 'there is no python3')
const leaseMs = 1500
/** Everything that waits in these tests waits for something that is done at once, or after the lease time. */
const timeout = 60_000

describe.skipIf(cannot)('locks between mounts', { timeout }, () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount
  const clients: LockClient[] = []

  const client = async (mount: SiteMount, file: string): Promise<LockClient> => {
    const opened = new LockClient(mount.directory)
    clients.push(opened)
    expect(await opened.ask(`open ${file}`)).toBe('ok')
    return opened
  }

  beforeAll(async () => {
    site = await Site.open({ leaseMs })
    a = await site.mount('/', '--shared-locks')
    b = await site.mount('/', '--shared-locks')
  }, timeout)
  afterEach(async () => {
    for (const each of clients.splice(0)) await each.kill()
  })
  afterAll(() => site.close(), timeout)

  it('flock: one excludes the other, in both directions and in the same mount', async () => {
    const [one, other, third] = [await client(a, 'f'), await client(b, 'f'), await client(a, 'f')]
    expect(await one.ask('flock f ex')).toBe('ok')
    expect(await other.ask('flock f ex')).toBe('EAGAIN')
    expect(await other.ask('flock f sh')).toBe('EAGAIN')
    expect(await third.ask('flock f ex')).toBe('EAGAIN')
    expect(await one.ask('flock f un')).toBe('ok')
    expect(await other.ask('flock f ex')).toBe('ok')
    expect(await one.ask('flock f sh')).toBe('EAGAIN')
  })

  it('flock: readers share, and one of them becomes a writer when it is alone', async () => {
    const [one, other] = [await client(a, 'shared'), await client(b, 'shared')]
    expect(await one.ask('flock shared sh')).toBe('ok')
    expect(await other.ask('flock shared sh')).toBe('ok')
    expect(await one.ask('flock shared ex')).toBe('EAGAIN')
    expect(await other.ask('flock shared un')).toBe('ok')
    expect(await one.ask('flock shared ex')).toBe('ok')
    expect(await other.ask('flock shared sh')).toBe('EAGAIN')
    expect(await one.ask('flock shared sh')).toBe('ok')
    expect(await other.ask('flock shared sh')).toBe('ok')
  })

  it('flock: two readers who both want to write do not wait for each other', async () => {
    const [one, other] = [await client(a, 'both'), await client(b, 'both')]
    for (const each of [one, other]) expect(await each.ask('flock both sh')).toBe('ok')
    const first = await Promise.race(
      [one, other].map(async (each) => {
        expect(await each.ask('flock both ex wait')).toBe('ok')
        return each
      }),
    )
    expect(await first.ask('flock both un')).toBe('ok')
  })

  it('flock(1) runs a command at a time', async () => {
    await a.sh('echo 0 > count')
    const add =
      'for i in $(seq 15); do flock lock sh -c "n=\\$(cat count); echo \\$((n+1)) > count"; done'
    await Promise.all([a.sh(add), b.sh(add), a.sh(add)])
    expect(await b.sh('cat count')).toBe('45\n')
  })

  it('flock: closing unlocks, and the next caller gets it', async () => {
    await a.sh('for i in 1 2 3 4 5; do flock -n seq true; flock -n seq true; done')
    for (let round = 0; round < 5; round++)
      for (const mount of [a, b]) await mount.sh('flock -w 5 seq true')
  })

  it('fcntl: ranges exclude where they overlap, and split where they are unlocked', async () => {
    const [one, other] = [await client(a, 'r'), await client(b, 'r')]
    expect(await one.ask('fcntl r w 0 100')).toBe('ok')
    expect(await other.ask('fcntl r w 99 1')).toBe('EAGAIN')
    expect(await other.ask('fcntl r w 100 0')).toBe('ok')
    expect(await one.ask('fcntl r u 10 10')).toBe('ok')
    expect(await other.ask('fcntl r w 10 10')).toBe('ok')
    expect(await other.ask('fcntl r r 9 1')).toBe('EAGAIN')
    expect(await one.ask('fcntl r r 0 10')).toBe('ok')
    expect(await other.ask('fcntl r r 9 1')).toBe('ok')
    expect(await one.ask('fcntl r w 0 10')).toBe('EAGAIN')
  })

  it('fcntl: F_GETLK tells the lock that is in the way', async () => {
    const [one, other, near] = [await client(a, 'g'), await client(b, 'g'), await client(a, 'g')]
    expect(await one.ask('fcntl g w 10 20')).toBe('ok')
    expect(await other.ask('getlk g w 0 0')).toBe('w 10 20 0')
    expect(await near.ask('getlk g r 15 1')).toBe(`w 10 20 ${one.child.pid}`)
    expect(await other.ask('getlk g w 0 10')).toMatch(/^u /)
    expect(await one.ask('getlk g w 0 0')).toMatch(/^u /)
    expect(await one.ask('fcntl g r 5 0')).toBe('ok')
    expect(await other.ask('getlk g w 0 0')).toBe('r 5 0 0')
  })

  it('fcntl: closing any descriptor of the file ends the locks of the process', async () => {
    const [one, other] = [await client(a, 'c'), await client(b, 'c')]
    expect(await one.ask('fcntl c w 0 0')).toBe('ok')
    expect(await one.ask('open ./c')).toBe('ok')
    expect(await other.ask('fcntl c w 0 0')).toBe('EAGAIN')
    expect(await one.ask('close ./c')).toBe('ok')
    expect(await other.ask('fcntl c w 0 0')).toBe('ok')
  })

  it('the two kinds do not meet', async () => {
    const [one, other] = [await client(a, 'kinds'), await client(b, 'kinds')]
    expect(await one.ask('flock kinds ex')).toBe('ok')
    expect(await other.ask('fcntl kinds w 0 0')).toBe('ok')
  })

  describe.each([
    ['flock', 'flock w ex'],
    ['fcntl', 'fcntl w w 5 5'],
  ])('%s: who waits', (kind, lock) => {
    const unlock = kind === 'flock' ? 'flock w un' : 'fcntl w u 0 0'
    const waiting = async (): Promise<{
      holder: LockClient
      waiter: LockClient
      got: Promise<string>
    }> => {
      const [holder, waiter] = [await client(a, 'w'), await client(b, 'w')]
      expect(await holder.ask(lock)).toBe('ok')
      const got = waiter.ask(`${lock} wait`)
      // Asked once without waiting: its place in the queue cannot be seen from the outside.
      expect(await (await client(b, 'w')).ask(lock)).toBe('EAGAIN')
      return { holder, waiter, got }
    }

    it('goes on when the holder unlocks', async () => {
      const { holder, got } = await waiting()
      const begin = performance.now()
      expect(await holder.ask(unlock)).toBe('ok')
      expect(await got).toBe('ok')
      expect(performance.now() - begin).toBeLessThan(leaseMs)
    })

    it('goes on when the holder closes', async () => {
      const { holder, got } = await waiting()
      expect(await holder.ask('close w')).toBe('ok')
      expect(await got).toBe('ok')
    })

    it('goes on when the holder is killed', async () => {
      const { holder, got } = await waiting()
      await holder.kill()
      expect(await got).toBe('ok')
    })

    it('a program that waits is interrupted by a signal, and has nothing then', async () => {
      const { holder, waiter, got } = await waiting()
      waiter.child.kill('SIGUSR1')
      expect(await got).toBe('EINTR')
      expect(await holder.ask(unlock)).toBe('ok')
      expect(await (await client(a, 'w')).ask(lock)).toBe('ok')
    })

    it('a program that waits can be killed, and has nothing then', async () => {
      const { holder, waiter, got } = await waiting()
      got.catch(() => undefined)
      await waiter.kill()
      expect(await holder.ask(unlock)).toBe('ok')
      expect(await (await client(a, 'w')).ask(lock)).toBe('ok')
    })
  })

  it('the next owner of the lock sees what was written under it', async () => {
    const rounds =
      'for i in $(seq 30); do flock pairs sh -c "tail -n 1 pairs-log; echo line-\\$(wc -l < pairs-log) >> pairs-log"; done'
    await a.sh(': > pairs-log')
    await Promise.all([a.sh(rounds), b.sh(rounds)])
    const lines = readFileSync(a.path('pairs-log'), 'utf8').trimEnd().split('\n')
    expect(lines).toEqual(Array.from({ length: 60 }, (_, i) => `line-${i}`))
  })

  it.skipIf(!has('sqlite3'))('sqlite: two writers at once lose nothing', async () => {
    await a.sh('sqlite3 db "create table t (who, n)"')
    const write = (who: string): string =>
      `for n in $(seq 20); do sqlite3 -cmd ".timeout 30000" db "insert into t values ('${who}', $n)"; done`
    await Promise.all([a.sh(write('a')), b.sh(write('b'))])
    for (const mount of [a, b])
      expect(await mount.sh('sqlite3 db "pragma integrity_check; select count(*) from t"')).toBe(
        'ok\n40\n',
      )
  })

  it('.cairn can be read and closed', async () => {
    expect(await a.sh('cat .cairn/status')).toContain('connected: yes')
  })

  it('locks outlive the daemon, and are given up by closing', async () => {
    const [one, other] = [await client(a, 'd'), await client(b, 'd')]
    expect(await one.ask('flock d ex')).toBe('ok')
    expect(await one.ask('fcntl d w 0 10')).toBe('ok')
    const { pid } = await a.status()
    process.kill(pid, 'SIGKILL')
    await expect
      .poll(async () => (await a.status().catch(() => ({ pid }))).pid, { timeout: 20_000 })
      .not.toBe(pid)
    expect(await other.ask('flock d ex')).toBe('EAGAIN')
    expect(await other.ask('fcntl d w 0 10')).toBe('EAGAIN')
    expect(await one.ask('close d')).toBe('ok')
    expect(await other.ask('flock d ex wait')).toBe('ok')
    expect(await other.ask('fcntl d w 0 10 wait')).toBe('ok')
  })

  it('locks outlive the server', async () => {
    const [one, other] = [await client(a, 's'), await client(b, 's')]
    expect(await one.ask('flock s ex')).toBe('ok')
    const got = other.ask('flock s ex wait')
    await site.stopServer('SIGKILL')
    await site.startServer()
    expect(await (await client(b, 's')).ask('flock s ex')).toBe('EAGAIN')
    expect(await one.ask('flock s un')).toBe('ok')
    expect(await got).toBe('ok')
  })

  it('locks of a killed mount are free after the lease time', async () => {
    const doomed = await site.mount('/', '--shared-locks')
    const [one, other] = [await client(doomed, 'k'), await client(b, 'k')]
    expect(await one.ask('flock k ex')).toBe('ok')
    expect(await other.ask('flock k ex')).toBe('EAGAIN')
    await doomed.kill()
    expect(await other.ask('flock k ex wait')).toBe('ok')
  })

  it('locks of an unmounted mount are free at once', async () => {
    const leaving = await site.mount('/', '--shared-locks')
    const one = await client(leaving, 'l')
    expect(await one.ask('fcntl l w 0 0')).toBe('ok')
    await one.kill()
    await leaving.unmount()
    expect(await (await client(b, 'l')).ask('fcntl l w 0 0')).toBe('ok')
  })

  it('a lock that another mount took while this one was frozen is reported as lost', async () => {
    const doomed = await site.mount('/', '--shared-locks')
    const [one, other] = [await client(a, 'lost'), await client(b, 'lost')]
    const timer = await client(doomed, 'timer')
    expect(await one.ask('flock lost ex')).toBe('ok')
    expect(await timer.ask('flock timer ex')).toBe('ok')
    expect(await other.ask('open timer')).toBe('ok')
    const { pid } = await a.status()
    process.kill(pid, 'SIGSTOP')
    try {
      expect(await other.ask('flock lost ex wait')).toBe('ok')
      // The lock of a killed mount is free after one more lease time: by then the daemon must notice that it slept.
      await doomed.kill()
      expect(await other.ask('flock timer ex wait')).toBe('ok')
    } finally {
      process.kill(pid, 'SIGCONT')
    }
    await expect
      .poll(async () => (await a.status()).errors.join('\n'), { timeout: 20_000 })
      .toContain('is lost: another mount has taken it')
    expect(await (await client(a, 'lost')).ask('flock lost ex')).toBe('EAGAIN')
  })
})

describe.skipIf(cannot)('locks without --shared-locks', { timeout }, () => {
  it('hold inside of one mount', async () => {
    const site = await Site.open()
    const clients: LockClient[] = []
    try {
      const mount = await site.mount('/')
      const [one, other] = [new LockClient(mount.directory), new LockClient(mount.directory)]
      clients.push(one, other)
      for (const each of clients) expect(await each.ask('open f')).toBe('ok')
      expect(await one.ask('flock f ex')).toBe('ok')
      expect(await other.ask('flock f ex')).toBe('EAGAIN')
      expect(await one.ask('fcntl f w 0 5')).toBe('ok')
      expect(await other.ask('fcntl f w 0 5')).toBe('EAGAIN')
      await one.kill()
      expect(await other.ask('flock f ex wait')).toBe('ok')
    } finally {
      for (const each of clients) await each.kill()
      await site.close()
    }
  })

  it('locks without --shared-locks are not shared by a mount that is read-only', async () => {
    const site = await Site.open()
    try {
      const ran = await site.tryCairn([
        'mount',
        ':/',
        site.directory,
        '--shared-locks',
        '--read-only',
      ])
      expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('--shared-locks')])
    } finally {
      await site.close()
    }
  })
})
