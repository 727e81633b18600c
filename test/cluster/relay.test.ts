// Mounts of one branch that are connected to different servers: their sessions meet at one of them, so they share directories there.
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from '../mount/fixture.ts'

const missing = whyNoMysql ?? noMount
const leaseMs = 3000
const rounds = 10 * Number(process.env['CAIRN_RUNS'] ?? 1)

async function metric(site: Site, name: string): Promise<number> {
  const headers = { authorization: `Bearer ${site.key}` }
  const text = await (await fetch(`${site.url}/metrics`, { headers })).text()
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1])
}

/** One metric of several servers. */
function metrics(sites: readonly Site[], name: string): Promise<number[]> {
  return Promise.all(sites.map((site) => metric(site, name)))
}

async function recallsOf(sites: readonly Site[]): Promise<number> {
  const counts = await metrics(sites, 'cairn_lease_recalls_total')
  return counts.reduce((sum, count) => sum + count, 0)
}

describe.skipIf(missing !== undefined)(`mounts of several servers ${missing ?? ''}`, () => {
  let mysql: MysqlServer
  const open: Site[] = []

  beforeAll(async () => {
    mysql = await startMysql()
  }, 180_000)

  afterAll(async () => {
    for (const site of open.toReversed()) await site.close()
    await mysql?.stop()
  }, 120_000)

  /** Servers on the same database, and where the first one says that the others reach it. */
  const openSites = async (count: number, firstAddress = 'own'): Promise<readonly Site[]> => {
    const [meta, masterKey] = [await mysql.createDatabase(), randomBytes(32).toString('hex')]
    const first = await Site.open({ meta, masterKey, peerAddress: firstAddress, leaseMs })
    const sites = [first]
    while (sites.length < count) sites.push(await Site.openBeside(first, { peerAddress: 'own' }))
    open.push(...sites)
    return sites
  }

  describe('that reach each other', () => {
    let sites: readonly Site[]
    const mounts: SiteMount[] = []

    beforeAll(async () => {
      sites = await openSites(3)
      for (const site of sites) mounts.push(await site.mount('/', '--shared-locks'))
    }, 120_000)

    it('the sessions of the second and third server are relayed to the first', async () => {
      expect(await metrics(sites, 'cairn_relayed_sessions')).toEqual([0, 1, 1])
      expect(await metric(sites[0]!, String.raw`cairn_sessions\{mode="write"\}`)).toBe(3)
    })

    it('each works in its own directory without a recall', async () => {
      for (const [i, mount] of mounts.entries()) await mount.sh(`mkdir own${i}`)
      const work = 'for i in $(seq 150); do mkdir d$i; echo $i > d$i/f; mv d$i/f d$i/g; done'
      await Promise.all(mounts.map((mount, i) => mount.sh(`cd own${i}; ${work}`)))
      const before = await recallsOf(sites)
      await Promise.all(
        mounts.map((mount, i) => mount.sh(`cd own${i}; mkdir more; cd more; ${work}`)),
      )
      expect(await recallsOf(sites)).toBe(before)
      for (const mount of mounts) {
        expect((await mount.status()).standing).toBe('lease')
        const count = await mount.sh('cat own?/more/d*/g | sort -n | uniq -c | grep -c "  3 "')
        expect(count).toBe('150\n')
      }
    })

    it('what was closed on one is there when it is opened on another', () => {
      for (let round = 0; round < 2 * rounds; round++) {
        const [from, to] = [mounts[round % 3]!, mounts[(round + 1) % 3]!]
        writeFileSync(from.path('letter'), `round ${round}`)
        expect(readFileSync(to.path('letter'), 'utf8')).toBe(`round ${round}`)
        mkdirSync(from.path(`d${round}`))
        expect(existsSync(to.path(`d${round}`))).toBe(true)
      }
    })

    it('O_EXCL has one winner', async () => {
      for (let round = 0; round < rounds; round++) {
        const script = `set -C; echo x > once${round}`
        const ran = await Promise.all(mounts.map((mount) => mount.trySh(script)))
        expect(ran.filter(({ code }) => code === 0)).toHaveLength(1)
      }
    })

    it('appends do not overwrite each other', async () => {
      const append = `for i in $(seq ${3 * rounds}); do echo line >> log; done`
      await Promise.all(mounts.map((mount) => mount.sh(append)))
      for (const mount of mounts)
        expect((await mount.sh('sort log | uniq -c')).trim()).toBe(`${9 * rounds} line`)
    })

    it('locks hold among them', async () => {
      await mounts[0]!.sh('echo 0 > count')
      const script = `for i in $(seq ${rounds}); do flock lock sh -c 'n=$(cat count); echo $((n + 1)) > count'; done`
      await Promise.all(mounts.map((mount) => mount.sh(script)))
      for (const mount of mounts) expect(await mount.sh('cat count')).toBe(`${3 * rounds}\n`)
    })

    it('changes through any server recall nothing elsewhere, and are seen at once', async () => {
      for (const mount of mounts) await mount.sh('mkdir -p http; echo x > mine; rm mine')
      const before = await recallsOf(sites)
      for (let round = 0; round < rounds; round++)
        for (const [i, site] of sites.entries()) {
          await mounts[i]!.sh(`echo ${round} > own${i}/busy${round}`)
          // Some are larger than a batch holds, or come in chunks.
          const text = `${round} ${i} `.repeat(round === 1 ? 100_000 : 1)
          const body = round === 2 ? new Blob([text]).stream() : text
          const put = await change(site, 'PUT', `http/a%20b${i}`, body)
          expect([put.status, put.headers.get('x-request-id')]).toEqual([
            round === 0 ? 201 : 200,
            'asked',
          ])
          for (const mount of mounts)
            expect(readFileSync(mount.path(`http/a b${i}`), 'utf8')).toBe(text)
        }
      expect((await change(sites[1]!, 'POST', 'http/log?append', 'line\n')).status).toBe(200)
      expect((await change(sites[2]!, 'DELETE', 'http/log')).status).toBe(200)
      expect(existsSync(mounts[0]!.path('http/log'))).toBe(false)
      const missingFile = await change(sites[1]!, 'DELETE', 'http/log')
      expect([missingFile.status, await missingFile.json()]).toMatchObject([
        404,
        { error: { errno: 'ENOENT' } },
      ])
      expect(await recallsOf(sites)).toBe(before)
    })

    it('a client that says it is a server is refused', async () => {
      const { key } = sites[0]!
      const forged = `0123456789abcdef ${Date.now()} 10.0.0.1 ${'A'.repeat(43)}`
      for (const proof of [forged, 'yes'])
        expect(await upgrade(sites[0]!, key, { 'cairn-peer': proof })).toBe(403)
      expect(await upgrade(sites[0]!, key, {})).toBe(101)
      const headers = { 'cairn-peer': forged }
      expect((await change(sites[0]!, 'PUT', 'forged', 'x', headers)).status).toBe(403)
      expect((await fetch(`${sites[0]!.url}/healthz`, { headers })).status).toBe(403)
    })
  })

  it('a home that is killed in the middle of work takes nothing with it', async () => {
    const [home, ...others] = await openSites(3)
    const idle = await home!.mount('/')
    const mounts = await Promise.all(others.map((site) => site.mount('/')))
    const sites = [home!, ...others]
    expect(await metrics(sites, 'cairn_relayed_sessions')).toEqual([0, 1, 1])
    const work = (name: string): string =>
      `mkdir ${name}; cd ${name}; for i in $(seq 400); do echo $i > f$i; done`
    const works = mounts.map((mount, i) => mount.sh(work(`dir${i}`)))
    await expect.poll(() => existsSync(mounts[0]!.path('dir0/f50'))).toBe(true)
    await home!.stopServer('SIGKILL')
    await Promise.all(works)
    for (const mount of mounts)
      for (const directory of ['dir0', 'dir1'])
        expect(
          await mount.sh(`cat ${directory}/f* | sort -n | tail -1; ls ${directory} | wc -l`),
        ).toBe('400\n400\n')
    // One of the two is the home now, though each may have taken itself for it.
    const count = async (): Promise<number> => {
      const [a, b] = await metrics(others, 'cairn_relayed_sessions')
      return a! + b!
    }
    await expect.poll(count, { timeout: 30_000, interval: 200 }).toBe(1)
    for (const [i, site] of others.entries())
      expect((await change(site, 'PUT', `by-http${i}`, 'x')).status).toBe(201)
    await home!.startServer()
    expect(await idle.sh('cat dir?/f* | wc -l')).toBe('800\n')
    await mounts[0]!.sh('echo on > on')
    expect(await idle.sh('cat on')).toBe('on\n')
  })

  describe.each(['refuses connections', 'never answers'])('whose home %s', (how) => {
    it('share as if it could not be reached: slower, and with the same promises', async () => {
      const silent = createServer().listen(0, '127.0.0.1')
      await once(silent, 'listening')
      const { port } = silent.address() as AddressInfo
      if (how === 'refuses connections') silent.close()
      const sites = await openSites(2, `http://127.0.0.1:${port}`)
      const [a, b] = [await sites[0]!.mount('/'), await sites[1]!.mount('/')]
      expect(await metrics(sites, 'cairn_relayed_sessions')).toEqual([0, 0])
      for (let round = 0; round < rounds; round++) {
        const [from, to] = round % 2 === 0 ? [a, b] : [b, a]
        writeFileSync(from.path('letter'), `round ${round}`)
        expect(readFileSync(to.path('letter'), 'utf8')).toBe(`round ${round}`)
      }
      expect((await b.status()).standing).toBe('shared')
      expect((await change(sites[1]!, 'PUT', 'by-http', 'text')).status).toBe(201)
      for (const mount of [a, b]) expect(readFileSync(mount.path('by-http'), 'utf8')).toBe('text')
      silent.close()
    })
  })
})

/** A change of one file through HTTP. */
function change(
  site: Site,
  method: string,
  path: string,
  body?: string | ReadableStream,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return fetch(`${site.url}/v1/workspaces/demo/files/${path}`, {
    method,
    headers: { authorization: `Bearer ${site.key}`, 'x-request-id': 'asked', ...headers },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  })
}

/** What a server answers to a client that wants to open a session. */
function upgrade(
  site: Site,
  key: string,
  headers: Readonly<Record<string, string>>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(`${site.url}/v1/sessions`, {
      headers: {
        authorization: `Bearer ${key}`,
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': randomBytes(16).toString('base64'),
        ...headers,
      },
    })
    asked.once('upgrade', ({ statusCode }, socket) => (socket.destroy(), resolve(statusCode)))
    asked.once('response', ({ statusCode }) => (asked.destroy(), resolve(statusCode)))
    asked.once('error', reject)
    asked.end()
  })
}
