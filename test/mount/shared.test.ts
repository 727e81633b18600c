import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

describe.skipIf(noMount)('two mounts of one branch', () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    a = await site.mount('/')
    b = await site.mount('/')
  })
  afterAll(() => site.close())

  it('what was closed on one is there when it is opened on the other', () => {
    for (let round = 0; round < 30; round++) {
      const [from, to] = round % 2 === 0 ? [a, b] : [b, a]
      writeFileSync(from.path('letter'), `round ${round}`)
      expect(readFileSync(to.path('letter'), 'utf8')).toBe(`round ${round}`)
    }
  })

  it('attributes follow: size, mode and times to the nanosecond', async () => {
    await a.sh('echo long text > f; chmod 600 f; touch -d 2001-02-03T04:05:06.789012345 f')
    const { size, mode, mtimeNs } = statSync(b.path('f'), { bigint: true })
    expect([size, mode & 0o777n, mtimeNs % 1_000_000_000n]).toEqual([10n, 0o600n, 789012345n])
  })

  it('names come and go on both', async () => {
    await a.sh('mkdir -p tree/deep; echo 1 > tree/deep/one')
    expect(await b.sh('find tree | sort')).toBe('tree\ntree/deep\ntree/deep/one\n')
    await b.sh('mv tree/deep/one tree/two; rmdir tree/deep')
    expect(await a.sh('find tree | sort')).toBe('tree\ntree/two\n')
    await a.sh('rm -r tree')
    expect(await b.sh('ls -d tree 2>/dev/null || echo gone')).toBe('gone\n')
  })

  it('O_EXCL, mkdir and link races: exactly one winner each', async () => {
    await a.sh('echo x > source')
    for (let round = 0; round < 10; round++) {
      const tries = [
        `set -C; echo mine > lock${round}`,
        `mkdir dir${round}`,
        `ln source link${round}`,
      ]
      for (const script of tries) {
        const ran = await Promise.all([a.trySh(script), b.trySh(script)])
        expect(ran.filter(({ code }) => code === 0)).toHaveLength(1)
      }
    }
  })

  it('one of two programs that create a file at once creates it, and both open it', async () => {
    for (let round = 0; round < 20; round++) {
      await Promise.all([a.sh(`echo a >> new${round}`), b.sh(`echo b >> new${round}`)])
      expect(await a.sh(`sort new${round}`)).toBe('a\nb\n')
    }
  })

  it('two programs that append at once do not overwrite each other', async () => {
    const append = 'for i in $(seq 40); do echo line >> log; done'
    await Promise.all([a.sh(append), b.sh(append)])
    expect((await a.sh('sort log | uniq -c')).trim()).toBe('80 line')
    expect((await b.sh('sort log | uniq -c')).trim()).toBe('80 line')
  })

  it('a file that was read on one and is rewritten on the other is never shown old', async () => {
    await a.sh('echo old > page')
    for (let round = 0; round < 20; round++) {
      expect(await b.sh('cat page')).toBe(round === 0 ? 'old\n' : `new ${round - 1}\n`)
      await a.sh(`echo new ${round} > page`)
    }
  })

  it('what did not change stays known: reading it needs no server', async () => {
    await a.sh('head -c 300000 /dev/urandom > still')
    const before = await b.sh('sha256sum still')
    await a.sh('echo x > other')
    expect(await b.sh('cat other')).toBe('x\n')
    site.haltServer()
    try {
      expect(await b.sh('sha256sum still; cat other')).toBe(`${before}x\n`)
    } finally {
      site.resumeServer()
    }
  })

  it('after one leaves, the other has the lease again', async () => {
    await b.unmount()
    await a.sh('echo alone > alone')
    await expect.poll(async () => (await a.status()).standing, { timeout: 30_000 }).toBe('lease')
    b = await site.mount('/')
    expect(await b.sh('cat alone')).toBe('alone\n')
  })

  it('a change by HTTP is seen', async () => {
    await site.cairn(['fs', 'mkdir', ':/by-http'])
    expect(await a.sh('ls -d by-http')).toBe('by-http\n')
  })
})
