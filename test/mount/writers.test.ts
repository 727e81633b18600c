import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const [directories, filesEach] = [12, 25]
/** What a program sees of a tree: names, modes and bytes. */
const listing = `find . -mindepth 1 -path ./.git -prune -o -printf '%P %m\\n' | sort; find . -path ./.git -prune -o -type f -print0 | sort -z | xargs -0 sha1sum`

describe.skipIf(noMount)('mounts that write a lot in different directories', () => {
  let source: string
  let expected: string
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeAll(() => {
    source = mkdtempSync(join(tmpdir(), 'cairn-source-'))
    for (let d = 0; d < directories; d++) {
      mkdirSync(join(source, `d${d}`))
      for (let f = 0; f < filesEach; f++)
        writeFileSync(join(source, `d${d}/f${f}`), `${d} ${f}\n`.repeat(300))
    }
    const commit =
      'git init -q .; git add .; git -c user.name=n -c user.email=e@example.org commit -qm one'
    execFileSync('/bin/sh', ['-ec', commit], { cwd: source })
    expected = execFileSync('/bin/sh', ['-ec', listing], { cwd: source, encoding: 'utf8' })
  })
  afterAll(() => rmSync(source, { recursive: true }))

  afterEach(() => site.close())

  async function start(options?: Parameters<typeof Site.open>[0]): Promise<void> {
    site = await Site.open(options)
    a = await site.mount('/')
    b = await site.mount('/')
    // Each works a little first, so that both hold the lease.
    for (const [mount, name] of [
      [a, 'a'],
      [b, 'b'],
    ] as const)
      await mount.sh(`mkdir ${name}; for i in 1 2 3 4 5; do echo $i > ${name}/$i; done`)
    await expect.poll(() => standings()).toEqual(['lease', 'lease'])
  }

  const standings = async (): Promise<string[]> =>
    Promise.all([a, b].map(async (mount) => (await mount.status()).standing))
  const clone = (mount: SiteMount, directory: string): Promise<string> =>
    mount.sh(`git clone -q --no-local ${source} ${directory}/clone`)
  const isWhole = async (mount: SiteMount, directory: string): Promise<void> => {
    expect(await mount.sh(`cd ${directory}/clone; ${listing}`)).toBe(expected)
    expect(await mount.sh(`cd ${directory}/clone; git fsck --strict 2>&1; git status -s`)).toBe('')
  }

  it('both keep the lease, and a third one that looks sees what is closed', async () => {
    await start()
    const reader = await site.mount('/')
    let isOver = false
    const looking = (async () => {
      for (let n = 0; !isOver; n++) {
        for (const [mount, directory] of [
          [a, 'a'],
          [b, 'b'],
        ] as const) {
          writeFileSync(mount.path(directory, 'latest'), `${n}`)
          expect(readFileSync(reader.path(directory, 'latest'), 'utf8')).toBe(`${n}`)
        }
        await reader.sh('find . > /dev/null')
      }
    })()
    await Promise.all([clone(a, 'a'), clone(b, 'b')])
    isOver = true
    await looking
    expect(await standings()).toEqual(['lease', 'lease'])
    for (const mount of [a, b, reader])
      for (const directory of ['a', 'b']) await isWhole(mount, directory)
    for (const mount of [a, b]) expect((await mount.status()).rescues).toEqual([])
  })

  it('the status says which directories are held and which are shared, and why', async () => {
    await start()
    await b.sh('ls a')
    const [ofA, ofB] = await Promise.all([a, b].map(async (mount) => mount.status()))
    expect(ofA!.directories).toMatchObject({ rest: 'held' })
    const why = 'another client looked into it, or changed it'
    expect(ofA!.directories!.named).toContainEqual({ path: '/a', state: 'shared', why })
    expect(ofB!.directories).toMatchObject({ rest: 'shared' })
    const held = { path: '/b', state: 'held', why: 'changes are acknowledged here' }
    expect(ofB!.directories!.named).toContainEqual(held)
    expect(readFileSync(b.path('.cairn/status'), 'utf8')).toMatch(
      /^directories: \d+ held, \d+ shared, all others shared$/m,
    )
  })

  it('one changes directories of the other, and both see one tree', async () => {
    await start()
    await Promise.all([clone(a, 'a'), clone(b, 'b')])
    await Promise.all([
      a.sh('for i in 1 2 3 4 5 6; do mv b/clone/d$i a/from-b-$i; echo a > a/from-b-$i/f0; done'),
      b.sh('for i in 1 2 3 4 5 6; do mv a/clone/d$i b/from-a-$i; echo b > b/from-a-$i/f0; done'),
    ])
    const trees = await Promise.all([a, b].map((mount) => mount.sh(listing)))
    expect(trees[0]).toBe(trees[1])
    expect(await a.sh('cat b/from-a-3/f0 a/from-b-3/f0; ls b/clone a/clone | wc -l')).toBe(
      'b\na\n15\n',
    )
    for (const mount of [a, b]) expect((await mount.status()).rescues).toEqual([])
  })

  it('one is killed with its sandbox: the other goes on, and what was synced is there', async () => {
    // Short: it is missed after that.
    await start({ leaseMs: 1000 })
    const working = clone(a, 'a')
    const killed = clone(b, 'b').catch(() => undefined)
    writeFileSync(b.path('b/synced'), 'synced', { flush: true })
    await b.kill()
    await Promise.all([working, killed])
    await isWhole(a, 'a')
    await a.drain()
    expect((await a.status()).rescues).toEqual([])
    const other = await site.mount('/')
    expect(readFileSync(other.path('b/synced'), 'utf8')).toBe('synced')
    await isWhole(other, 'a')
  })

  it('the daemon of one and the server are killed: both programs go on, and nothing is missing', async () => {
    await start()
    const working = Promise.all([clone(a, 'a'), clone(b, 'b')])
    process.kill(b.processes().daemon, 'SIGKILL')
    await a.sh('echo between > a/between')
    await site.stopServer('SIGKILL')
    await site.startServer()
    await working
    for (const mount of [a, b]) await mount.drain()
    for (const mount of [a, b]) for (const directory of ['a', 'b']) await isWhole(mount, directory)
  })
})
