import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

const leaseMs = 1000

describe.skipIf(noMount)('a lease that goes to others', () => {
  let site: Site
  afterEach(() => site.close())

  /** A mount that has the lease and clones; how many files it has checked out, of how many. */
  async function startClone(files: number): Promise<Clone> {
    site = await Site.open()
    const source = join(site.directory, 'source')
    mkdirSync(source)
    execFileSync('/bin/sh', ['-ec', makeRepository(files)], { cwd: source })
    const mount = await site.mount('/')
    expect((await mount.status()).standing).toBe('lease')
    const count = (): number => {
      const directory = mount.path('clone/d')
      return existsSync(directory) ? readdirSync(directory).length : 0
    }
    const cloned = mount.sh(`git clone -q --no-local ${source} clone`)
    // The test that awaits it sees a failure; until then a test may fail for another reason.
    cloned.catch(() => undefined)
    await expect.poll(count, { interval: 5 }).toBeGreaterThan(filesBefore)
    return { mount, cloned, count, files }
  }

  /** Does it while files are being checked out, and shows that they were: some came later. Gives how long it took. */
  async function during({ count, files }: Clone, change: () => Promise<unknown>): Promise<number> {
    const before = count()
    const began = performance.now()
    await change()
    const ms = performance.now() - began
    expect(before).toBeLessThan(files)
    const after = count()
    expect(after).toBeLessThan(files)
    await expect.poll(count, { interval: 5 }).toBeGreaterThan(after)
    return ms
  }

  async function expectWhole({ mount, cloned, files }: Clone): Promise<void> {
    await cloned
    const look = 'cd clone; git fsck --strict; git status --porcelain; git ls-files | wc -l'
    expect(await mount.sh(look)).toBe(`${files}\n`)
    await mount.drain()
    const later = await site.mount('/', '--read-only')
    // Nothing can be written there, so git must not want to.
    const still = look.replaceAll('git ', 'GIT_OPTIONAL_LOCKS=0 git ')
    expect(await later.sh(still)).toBe(`${files}\n`)
  }

  it.each(everyRun)(
    'a lease that goes to others is recalled by a second mount in the middle of a git clone: what that writes is done in 2 s, and the clone is whole (run %i)',
    async () => {
      const clone = await startClone(filesBesideMount)
      let [other, mounted]: [SiteMount | undefined, number] = [undefined, 0]
      const began = performance.now()
      const ms = await during(clone, async () => {
        other = await site.mount('/')
        // Not a moment later: the first one is still handing in what it has.
        mounted = performance.now() - began
        await writeFile(other.path('of-the-other'), 'written')
      })
      const writing = ms - mounted
      console.log(`mounting ${Math.round(mounted)} ms, writing ${Math.round(writing)} ms`)
      expect(writing).toBeLessThan(2000)
      expect(readFileSync(clone.mount.path('of-the-other'), 'utf8')).toBe('written')
      await other!.unmount()
      await expectWhole(clone)
    },
  )

  it.each(everyRun)(
    'a lease that goes to others is recalled by a write over HTTP in the middle of a git clone: it is done in 2 s, and the clone is whole (run %i)',
    async () => {
      const clone = await startClone(filesBesideRequest)
      const url = `${site.url}/v1/workspaces/demo/files/of-the-other`
      const headers = { authorization: `Bearer ${site.key}` }
      const writing = await during(clone, async () => {
        const { ok } = await fetch(url, { method: 'PUT', headers, body: 'written' })
        expect(ok).toBe(true)
      })
      console.log(`writing ${Math.round(writing)} ms`)
      expect(writing).toBeLessThan(2000)
      expect(readFileSync(clone.mount.path('of-the-other'), 'utf8')).toBe('written')
      await expectWhole(clone)
    },
  )

  /** Stops both processes of a mount, so that its lease is not renewed. */
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

  it('late writes without a conflict are committed', async () => {
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
    const { errors, rescues } = await a.status()
    expect(rescues).toMatchObject([{ result: 'kept' }])
    expect(errors.at(-1)).toContain('layer')
    const layer = /layer '([^']+)'|layer (\S+):/.exec(await a.sh('cat .cairn/conflicts'))!
    const later = await site.mount('/', '--layer', (layer[1] ?? layer[2])!)
    expect(await later.sh('cat f')).toBe('late\n')
    await a.sh('echo on > g')
    expect(await b.sh('cat g')).toBe('on\n')
  })
})

interface Clone {
  readonly mount: SiteMount
  readonly cloned: Promise<unknown>
  readonly count: () => number
  readonly files: number
}

/** So many that a quick machine is not done while another mount starts. */
const filesBesideMount = 8000
/** So many that it is not done during one request. */
const filesBesideRequest = 3000
/** Enough that the checkout is under way. */
const filesBefore = 100
const makeRepository = (files: number): string => `
  git init -q .; mkdir d; for i in $(seq ${files}); do echo "$i $i $i" > d/$i; done
  git add .; git -c user.name=n -c user.email=e@example.org commit -qm one`
