import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  closeSync,
  existsSync,
  fstatSync,
  globSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { getXattr, pattern, Place, setXattr } from './questions/place.ts'
import { everyRun } from './random/seeds.ts'

/** Runs a script while the mount's daemon is killed again and again. */
async function whileKilling(mount: SiteMount, script: string, times: number): Promise<string> {
  const running = new Promise<string>((resolve) => {
    execFile('/bin/sh', ['-c', script], { cwd: mount.directory }, (error, stdout, stderr) =>
      resolve(`${error ? 'failed ' : ''}${stdout}${stderr}`),
    )
  })
  for (let i = 0; i < times; i++) process.kill(await pidOf(mount), 'SIGKILL')
  return running
}

/** The process id of the next daemon, once it answers. */
async function pidOf(mount: SiteMount): Promise<number> {
  for (;;) {
    const status = await mount.status().catch(() => undefined)
    if (status?.connected) return status.pid
  }
}

/** Kills the daemon, and lets its supervisor start the next one when the others have done something. */
async function whileDead(mount: SiteMount, change: () => Promise<unknown>): Promise<void> {
  const { pid, supervisorPid } = await mount.status()
  process.kill(supervisorPid, 'SIGSTOP')
  try {
    process.kill(pid, 'SIGKILL')
    await change()
  } finally {
    process.kill(supervisorPid, 'SIGCONT')
  }
}

/** What a program finds out about files. Attributes come first: bytes and listings make the kernel ask for them anew. */
function look(place: Place, names: readonly string[]): unknown[] {
  const attributes = names.map((name) => {
    const { ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs } = place.stat(name)
    return { name, ino, mode, nlink, uid, gid, size, mtimeNs, ctimeNs }
  })
  return attributes.map((each) => ({
    ...each,
    xattr: getXattr(place, each.name, 'user.x'),
    holds: (each.mode & 0o170000n) === 0o040000n ? place.names(each.name) : place.read(each.name),
  }))
}

function namesIn(place: Place): string[] {
  return place.sh('find d e | sort').trim().split('\n')
}

/**
 * The daemon of the first mount, as its supervisor has recorded it: asking for the status needs a
 * daemon that answers.
 */
function daemonOf(site: Site): number {
  const [path] = globSync(`${site.directory}/sandbox-1/.cache/cairn/mounts/*/state.json`)
  return (JSON.parse(readFileSync(path!, 'utf8')) as { daemon: { pid: number } }).daemon.pid
}

/** Which program a process runs, and its state: S waits for an answer. */
function stateOf(pid: number): string {
  return readFileSync(`/proc/${pid}/stat`, 'latin1').replace(/^\d+ \((.*)\) (.).*$/s, '$1 $2')
}

describe.skipIf(noMount)('a daemon that is killed while others write loses nothing', () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    a = await site.mount('/')
    b = await site.mount('/')
  })
  afterEach(() => site.close())

  it('goes on in shared mode: nothing that was done before or after is lost', async () => {
    await a.sh('for i in 1 2 3 4 5 6 7 8 9; do echo $i > before$i; done')
    await b.sh('cat before*')
    process.kill((await a.status()).pid, 'SIGKILL')
    await a.sh('for i in 1 2 3 4 5 6 7 8 9; do echo $i > after$i; done')
    expect(await b.sh('cat before* after*')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n'.repeat(2))
    expect(await a.sh('cat before* after*')).toBe('1\n2\n3\n4\n5\n6\n7\n8\n9\n'.repeat(2))
  })

  it('what the other did meanwhile is seen, though the kernel remembers what was before', async () => {
    await a.sh('mkdir d; echo old > d/f; echo gone > d/i')
    await a.sh('cat d/*; ls -l d')
    const stopped = (await a.status()).pid
    process.kill(stopped, 'SIGSTOP')
    const changed = b.sh('echo new > d/f; rm d/i; echo more > d/j')
    process.kill(stopped, 'SIGKILL')
    await changed
    await expect.poll(() => readFileSync(a.path('d/f'), 'utf8'), { timeout: 20_000 }).toBe('new\n')
    expect(await a.sh('ls d')).toBe('f\nj\n')
  })

  it('a link count that fell meanwhile is seen, though the kernel remembers it', async () => {
    await a.sh('mkdir d; echo x > d/g; ln d/g d/h; stat d/h')
    const stopped = (await a.status()).pid
    process.kill(stopped, 'SIGSTOP')
    const changed = b.sh('rm d/g; echo new > d/f')
    process.kill(stopped, 'SIGKILL')
    await changed
    await expect.poll(() => existsSync(a.path('d/f')), { timeout: 20_000 }).toBe(true)
    expect(statSync(a.path('d/h')).nlink).toBe(1)
  })

  it('every change that another made meanwhile is seen, though the kernel remembers what was before', async () => {
    await a.sh(`mkdir d e; cd d; mkdir moved-directory gone-directory; echo in > moved-directory/in
      for f in one-name-goes its-link-goes gets-a-link one-name-moves moves gone over replaced mode owner cut grows \\
        written appended attribute attribute-goes open-gone open-moves open-replaced new; do echo $f > $f; done
      ln one-name-goes one-name-stays; ln its-link-goes ../e/link; ln one-name-moves one-name-moves-not`)
    const [here, there] = [new Place(a.directory), new Place(b.directory)]
    setXattr(here, 'd/attribute-goes', 'user.x', 'old')
    const before = namesIn(here)
    expect(look(here, before)).toEqual(look(there, before))
    const open = ['open-gone', 'open-moves', 'open-replaced'].map((name) => here.open(`d/${name}`))
    onTestFinished(() => open.forEach(closeSync))
    const { ctimeNs } = before.map((name) => here.stat(name)).at(-1)!
    await whileDead(a, async () => {
      await b.sh(`cd d; rm one-name-goes ../e/link gone open-gone; rmdir gone-directory; ln gets-a-link ../e/second
        mv one-name-moves ../e/; mv moves ../e/moved; mv moved-directory ../e/; mv over replaced
        mv open-moves ../e/; mv new open-replaced; chmod 4711 mode; chown 1234:2345 owner; truncate -s 2 cut
        truncate -s 5000 grows; echo other > written; echo more >> appended; mkdir made; echo in > made/in`)
      setXattr(there, 'd/attribute', 'user.x', 'new')
      await b.sh(`python3 -c 'import os; os.removexattr("d/attribute-goes", "user.x")'`)
    })
    await expect.poll(() => existsSync(a.path('d/made/in')), { timeout: 20_000 }).toBe(true)
    const opened = open.map((fd) => fstatSync(fd, { bigint: true }))
    const after = namesIn(there)
    expect(look(here, after)).toEqual(look(there, after))
    expect(opened.map(({ nlink }) => nlink)).toEqual([0n, 1n, 0n])
    for (const each of opened) expect(each.ctimeNs).toBeGreaterThan(ctimeNs)
    for (const name of before) expect(here.exists(name)).toBe(after.includes(name))
  })

  it.each(everyRun)(
    'programs that make and remove names see no failure, shared (run %i)',
    async () => {
      const script =
        'for i in $(seq 60); do mkdir d$i && mv d$i e$i && rmdir e$i && (set -C; : > f$i) && ln f$i g$i && rm f$i || echo at $i; done'
      expect(await whileKilling(a, script, 2)).toBe('')
      expect(await b.sh('ls | wc -l')).toBe('60\n')
    },
  )
})

describe.skipIf(noMount)('a daemon that is killed and has the lease', () => {
  let site: Site
  let a: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    a = await site.mount('/')
  })
  afterEach(() => site.close())

  it.each(everyRun)('programs that make and remove names see no failure (run %i)', async () => {
    const script =
      'for i in $(seq 150); do mkdir d$i && mv d$i e$i && rmdir e$i && (set -C; : > f$i) && ln f$i g$i && rm f$i || echo at $i; done'
    expect(await whileKilling(a, script, 2)).toBe('')
    await a.drain()
    const b = await site.mount('/')
    expect(await b.sh('ls | wc -l')).toBe('150\n')
  })

  it.each(everyRun)(
    'appends of a program that goes on are neither lost nor doubled (run %i)',
    async () => {
      const stop = join(site.directory, 'stop')
      // For as long as it takes: it is at work at every kill, and ends after the last.
      const script = `i=0; exec >> f; until [ -e ${stop} ]; do i=$((i+1)); echo line $i; done; echo $i >&2`
      const running = a.trySh(script)
      for (let kill = 0; kill < 2; kill++) {
        const size = existsSync(a.path('f')) ? statSync(a.path('f')).size : 0
        await expect.poll(() => statSync(a.path('f')).size).toBeGreaterThan(size)
        process.kill(await pidOf(a), 'SIGKILL')
      }
      writeFileSync(stop, '')
      const { code, stderr } = await running
      const lines = Array.from({ length: Number(stderr) }, (_, i) => `line ${i + 1}`)
      expect(code).toBe(0)
      expect(readFileSync(a.path('f'), 'utf8').trim().split('\n')).toEqual(lines)
      await a.drain()
      const b = await site.mount('/')
      expect(readFileSync(b.path('f'), 'utf8').trim().split('\n')).toEqual(lines)
    },
  )

  it('a large file of which half is at the server', async () => {
    const bytes = pattern(10 << 20)
    const half = bytes.length / 2
    writeFileSync(a.path('f'), bytes.subarray(0, half))
    await a.drain()
    site.haltServer()
    appendFileSync(a.path('f'), bytes.subarray(half))
    const { pid, pendingBytes } = await a.status()
    expect(pendingBytes).toBeGreaterThan(half)
    process.kill(pid, 'SIGKILL')
    site.resumeServer()
    expect(readFileSync(a.path('f')).equals(bytes)).toBe(true)
    await a.drain()
    const b = await site.mount('/')
    expect(readFileSync(b.path('f')).equals(bytes)).toBe(true)
  })

  it('killed while its supervisor has only just been started', async () => {
    const b = await site.mount('/')
    // As the command left it: to ask for the status takes longer than a supervisor needs to load.
    const { daemon, supervisor } = b.processes()
    process.kill(daemon, 'SIGKILL')
    await b.sh('echo made > f')
    await b.drain()
    expect(readFileSync(a.path('f'), 'utf8')).toBe('made\n')
    expect((await b.status()).supervisorPid).toBe(supervisor)
  })

  it('killed twice when nothing of its spool is left but its session: what comes after is not taken for what was', async () => {
    const spool = `${site.directory}/sandbox-1/.cache/cairn/mounts/*/spool-*/segment-*`
    for (const name of ['one', 'two', 'three']) {
      await a.sh(`echo ${name} > ${name}`)
      await a.drain()
      await whileDead(a, async () => {
        for (const segment of globSync(spool)) rmSync(segment)
      })
    }
    await a.sh('echo last > last')
    await a.drain()
    const b = await site.mount('/')
    expect(await b.sh('cat one two three last')).toBe('one\ntwo\nthree\nlast\n')
  })

  it('a removed file that is open goes on, written after the kill and read', async () => {
    expect(
      await whileKilling(
        a,
        'exec 3<>f; rm f; echo one >&3; sleep 1; echo two >&3; cat /proc/self/fd/3; exec 3>&-',
        1,
      ),
    ).toBe('one\ntwo\n')
  })
})

describe.skipIf(noMount)('a daemon that is killed while the server is away', () => {
  let site: Site
  let a: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    a = await site.mount('/')
    await a.sh('mkdir d; echo before > d/f')
    await a.drain()
  })
  afterEach(() => site.close())

  /** A program in the mount, and how it ends. */
  function start(...[file, ...args]: [string, ...string[]]): [ChildProcess, Promise<unknown>] {
    const child = spawn(file, args, { cwd: a.directory, stdio: 'ignore' })
    return [child, once(child, 'exit')]
  }

  it('a program that waits for it can be killed, and others are answered when the server is back', async () => {
    site.haltServer()
    await a.sh('echo new > d/g')
    // A change that is acknowledged, and that the server does not have.
    const [owed, owedEnd] = start('sync', 'd/g')
    const [patient, patientEnd] = start('sync', 'd/f')
    for (const { pid } of [owed, patient]) await expect.poll(() => stateOf(pid!)).toBe('sync S')
    const before = daemonOf(site)
    process.kill(before, 'SIGKILL')
    await expect.poll(() => daemonOf(site)).not.toBe(before)
    const [late, lateEnd] = start('stat', 'd/unknown')
    await expect.poll(() => stateOf(late.pid!)).toBe('stat S')
    for (const child of [owed, late]) child.kill('SIGKILL')
    const killed = [null, 'SIGKILL']
    expect(await Promise.all([owedEnd, lateEnd])).toEqual([killed, killed])
    expect(patient.exitCode).toBe(null)
    site.resumeServer()
    expect(await patientEnd).toEqual([0, null])
    expect(await a.sh('cat d/f d/g; echo after > d/h; cat d/h')).toBe('before\nnew\nafter\n')
    await a.drain()
    expect((await site.cairn(['fs', 'cat', ':/d/h'])).stdout).toBe('after\n')
  })
})

describe.skipIf(noMount)('a daemon that is killed and has lost the lease', () => {
  const leaseMs = 1000
  let site: Site

  beforeEach(async () => {
    site = await Site.open({ leaseMs })
  })
  afterEach(() => site.close())

  it('what it acknowledged and the branch does not have is shown no more, though the kernel remembers it', async () => {
    const a = await site.mount('/')
    await a.sh('mkdir d; cd d; echo base > f; echo g > g; echo gone > gone')
    await a.drain()
    await site.stopServer()
    // `mv` asks for a name that only one client may make: out of contact with the server it waits.
    renameSync(a.path('d/g'), a.path('d/h'))
    await a.sh('cd d; echo late > f; rm gone; echo new > new; ls -lR; cat f h new')
    await whileDead(a, async () => {
      await site.startServer()
      await setTimeout(3 * leaseMs)
      const b = await site.mount('/')
      await b.sh('echo other > d/f')
    })
    await expect
      .poll(async () => (await a.trySh('cat .cairn/conflicts')).stdout, { timeout: 30_000 })
      .toContain('kept in layer')
    expect(await a.sh('cat d/f d/g d/gone')).toBe('other\ng\ngone\n')
    expect((await a.trySh('stat d/h d/new')).stdout).toBe('')
    expect(await a.sh('ls d')).toBe('f\ng\ngone\n')
    const { pid, rescues } = await a.status()
    process.kill(pid, 'SIGKILL')
    // Late writes wait for a user's decision, whichever process reports them.
    expect(await a.sh('cat .cairn/conflicts')).toContain('kept in layer')
    expect((await a.status()).rescues).toEqual(rescues)
  })
})
