import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const leaseMs = 1000

describe.skipIf(noMount)('a lease that goes to others', () => {
  let site: Site
  afterEach(() => site.close())

  it('is recalled in the middle of a git clone: the other writes at once, and the clone is whole', async () => {
    site = await Site.open()
    const source = join(site.directory, 'source')
    mkdirSync(source)
    execFileSync('/bin/sh', ['-ec', makeRepository], { cwd: source })
    const [a, b] = [await site.mount('/'), await site.mount('/')]
    await b.unmount()
    await expect.poll(async () => (await a.status()).standing, { timeout: 20_000 }).toBe('lease')
    const go = join(site.directory, 'go')
    let isCloning = true
    const hold = `-c filter.hold.smudge='until [ -e ${go} ]; do sleep 0.01; done; cat'`
    const cloned = a
      .sh(`git clone -q --no-local ${hold} ${source} clone; git -C clone fsck --strict`)
      .finally(() => (isCloning = false))
    await expect.poll(() => existsSync(a.path('clone/d/1')), { timeout: 30_000 }).toBe(true)
    const c = await site.mount('/')
    const began = performance.now()
    writeFileSync(c.path('of-the-other'), 'written')
    const ms = performance.now() - began
    console.log(`the other's write took ${Math.round(ms)} ms`)
    expect(ms).toBeLessThan(10_000)
    expect(isCloning).toBe(true)
    writeFileSync(go, '')
    await cloned
    expect(readFileSync(a.path('of-the-other'), 'utf8')).toBe('written')
    const look = 'git status --porcelain; git ls-files | wc -l'
    expect(await a.sh(`cd clone; ${look}`)).toBe('800\n')
    expect(await c.sh(`cd clone; git fsck; ${look}`)).toBe('800\n')
  })

  /** Stops both processes of a mount, so that nobody renews its lease. */
  async function pause(mount: SiteMount): Promise<() => void> {
    const { pid, supervisorPid } = await mount.status()
    for (const one of [supervisorPid, pid]) process.kill(one, 'SIGSTOP')
    return () => {
      for (const one of [pid, supervisorPid]) process.kill(one, 'SIGCONT')
    }
  }

  /** A mount with the lease that has acknowledged something and is stopped before it could send it. */
  async function writeLate(a: SiteMount, script: string): Promise<() => void> {
    await site.stopServer('SIGTERM')
    await a.sh(script)
    const goOn = await pause(a)
    await site.startServer()
    await setTimeout(3 * leaseMs)
    return goOn
  }

  it('late writes that conflict with nobody are committed', async () => {
    site = await Site.open({ leaseMs })
    const a = await site.mount('/')
    await a.sh('echo before > before')
    await a.drain()
    const goOn = await writeLate(a, 'echo late > late')
    const b = await site.mount('/')
    await b.sh('echo meanwhile > meanwhile')
    goOn()
    await expect
      .poll(async () => (await b.trySh('cat late')).stdout, { timeout: 30_000 })
      .toBe('late\n')
    await expect
      .poll(async () => (await a.trySh('cat before meanwhile late')).stdout, { timeout: 30_000 })
      .toBe('before\nmeanwhile\nlate\n')
    expect(await a.sh('cat .cairn/conflicts')).toContain('committed')
  })

  it('late writes that conflict are kept in a layer, .cairn/conflicts tells where, and the branch is the other one’s', async () => {
    site = await Site.open({ leaseMs })
    const a = await site.mount('/')
    await a.sh('echo base > f')
    await a.drain()
    const goOn = await writeLate(a, 'echo late > f')
    const b = await site.mount('/')
    await b.sh('echo other > f')
    goOn()
    await expect
      .poll(async () => (await a.trySh('cat .cairn/conflicts')).stdout, { timeout: 30_000 })
      .toContain('kept in layer')
    await expect
      .poll(async () => (await a.trySh('cat f')).stdout, { timeout: 30_000 })
      .toBe('other\n')
    expect(await b.sh('cat f')).toBe('other\n')
    const layer = /layer '([^']+)'|layer (\S+):/.exec(await a.sh('cat .cairn/conflicts'))!
    const later = await site.mount('/', '--layer', (layer[1] ?? layer[2])!)
    expect(await later.sh('cat f')).toBe('late\n')
    await a.sh('echo on > g')
    expect(await b.sh('cat g')).toBe('on\n')
  })
})

/** One of its files is checked out only when the clone's filter lets it. */
const makeRepository = `
  git init -q .; mkdir d; for i in $(seq 799); do echo "$i $i $i" > d/$i; done
  echo 'd/8 filter=hold' > .gitattributes
  git add .; git -c user.name=n -c user.email=e@example.org commit -qm one`
