import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const readOnly = 'Read-only file system'

describe.skipIf(noMount)('a mount of a layer', () => {
  let site: Site
  const layer = async (...words: string[]): Promise<string> =>
    (await site.cairn(['fs', 'layer', ...words])).stdout

  const attempt = async (path: string, name: string): Promise<SiteMount> => {
    await layer('create', ':/repo', '--name', name)
    return site.mount(path, '--layer', name)
  }

  beforeEach(async () => {
    site = await Site.open()
    const main = await site.mount('/')
    await main.sh('mkdir -p repo/src other; echo base > repo/src/a; echo theirs > other/b')
    await main.unmount()
  })
  afterEach(() => site.close())

  it.each(['commit', 'abandon'])(
    'a mount of a layer that is over by %s: refuses what is written from then on, and keeps what was before',
    async (end) => {
      const a = await attempt('/repo', 'fix')
      const before = await a.sh('for i in $(seq 500); do echo $i > f$i; done; ls | wc -l')
      await layer(end, 'fix')
      for (const change of ['echo late > late', 'echo late > f1', 'rm f1', 'mkdir d', 'mv f1 f2']) {
        const { code, stderr } = await a.trySh(change)
        expect([change, code !== 0, stderr]).toEqual([
          change,
          true,
          expect.stringContaining(readOnly),
        ])
      }
      expect(await a.sh('ls | wc -l; cat f1')).toBe(`${before}1\n`)
      expect((await a.status()).standing).toBe('over')
      const { stdout } = await site.cairn(['fs', 'ls', ':/repo', '--layer', 'fix'])
      expect(stdout.trim().split('\n').length).toBe(Number(before))
      await a.unmount()
    },
  )

  it('a mount of a layer that is over before it is mounted can be read', async () => {
    await layer('create', ':/repo', '--name', 'fix')
    await layer('abandon', 'fix')
    const a = await site.mount('/repo', '--layer', 'fix')
    expect(await a.sh('cat src/a')).toBe('base\n')
    expect((await a.trySh('echo x > src/a')).stderr).toContain(readOnly)
  })

  it('a mount of a layer that was abandoned and is reopened takes writes again', async () => {
    const a = await attempt('/repo', 'fix')
    await a.sh('echo one > one')
    await layer('abandon', 'fix')
    expect((await a.trySh('echo two > two')).stderr).toContain(readOnly)
    await layer('reopen', 'fix')
    await a.sh('echo three > three')
    await a.drain()
    const { stdout } = await site.cairn(['fs', 'ls', ':/repo', '--layer', 'fix'])
    expect(stdout.trim().split('\n')).toEqual(['one', 'src/', 'three'])
  })

  it('a layer of a part of the mount refuses changes elsewhere, and loses nothing beside it', async () => {
    const all = await attempt('/', 'fix')
    const script = 'echo in > repo/in; echo out > other/out || true; echo in > repo/in2'
    const { stderr } = await all.trySh(script)
    expect(stderr).toContain(readOnly)
    for (const change of [
      'rm other/b',
      'mv repo/in other/in',
      'chmod 700 other',
      'ln other/b repo/b',
    ])
      expect((await all.trySh(change)).stderr, change).toContain(readOnly)
    await all.drain()
    const { stdout } = await site.cairn(['fs', 'ls', ':/repo', '--layer', 'fix'])
    expect(stdout.trim().split('\n')).toEqual(['in', 'in2', 'src/'])
    expect((await all.status()).errors).toEqual([])
  })
})
