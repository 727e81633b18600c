import { keyFile } from '@cairn/server/testing/key-file'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const megabyte = 1 << 20

/** How many files a shell makes in a directory until there is no room, or `most`; and that many bytes in each. */
function makeFiles(directory: string, { most = 10_000, bytes = 1 } = {}): string {
  const fill = `head -c ${bytes} /dev/urandom`
  return `mkdir -p ${directory}; n=0; while [ $n -lt ${most} ] && ${fill} > ${directory}/$n; do n=$((n+1)); done 2>/dev/null; echo $n`
}

describe.skipIf(noMount)('two mounts that share a quota or a budget', { timeout: 120_000 }, () => {
  let site: Site
  let a: SiteMount
  let b: SiteMount

  beforeEach(async () => {
    site = await Site.open({ leaseMs: 2000 })
  })
  afterEach(() => site.close())

  const standings = (): Promise<string[]> =>
    Promise.all([a, b].map(async (mount) => (await mount.status()).standing))
  const count = async (mount: SiteMount, script: string): Promise<number> =>
    Number(await mount.sh(script))
  const recalls = async (): Promise<number> => {
    const headers = { authorization: `Bearer ${site.key}` }
    const metrics = await (await fetch(`${site.url}/metrics`, { headers })).text()
    return Number(/^cairn_lease_recalls_total (\d+)$/m.exec(metrics)?.[1] ?? NaN)
  }

  /** Each works a little first, so that both hold the lease. */
  async function share(mount: () => Promise<SiteMount>): Promise<void> {
    a = await mount()
    b = await mount()
    await a.sh(makeFiles('a', { most: 5 }))
    await b.sh(makeFiles('b', { most: 5 }))
    await expect.poll(standings).toEqual(['lease', 'lease'])
  }

  it('both keep the lease, and use all of the quota and no more', async () => {
    await site.cairn(['ws', 'quota', 'demo', '--max-files', '400', '--max-bytes', '64MiB'])
    await share(() => site.mount('/'))
    const before = await recalls()
    const made = await Promise.all([count(a, makeFiles('a')), count(b, makeFiles('b'))])
    expect(made[0] + made[1]).toBe(400 - 2)
    expect(await recalls()).toBe(before)
    expect(await standings()).toEqual(['lease', 'lease'])
    expect(await a.sh('find a b -type f | wc -l')).toBe('398\n')
    for (const mount of [a, b]) expect((await mount.status()).rescues).toEqual([])

    await a.sh('rm a/1?')
    expect(await count(b, makeFiles('b/more'))).toBe(10 - 1)
    expect(await recalls()).toBe(before)
  })

  it('bytes: what one does not need the other one gets', async () => {
    await site.cairn(['ws', 'quota', 'demo', '--max-bytes', '16MiB'])
    await share(() => site.mount('/'))
    const before = await recalls()
    const [ofA, ofB] = await Promise.all([
      count(a, makeFiles('a/large', { bytes: 65_536, most: 16 })),
      count(b, makeFiles('b/large', { bytes: 65_536 })),
    ])
    expect(ofA).toBe(16)
    const whole = Math.floor((16 * megabyte) / 65_536)
    expect(ofA + ofB).toBeGreaterThanOrEqual(whole - 2)
    expect(ofA + ofB).toBeLessThanOrEqual(whole)
    expect(await recalls()).toBe(before)
    expect(await standings()).toEqual(['lease', 'lease'])
  })

  it('a change through HTTP gets room of the holders, and they keep the lease', async () => {
    await site.cairn(['ws', 'quota', 'demo', '--max-bytes', '16MiB'])
    await share(() => site.mount('/'))
    await a.sh('mkdir h')
    const before = await recalls()
    const headers = { authorization: `Bearer ${site.key}` }
    const put = (bytes: number): Promise<Response> =>
      fetch(`${site.url}/v1/workspaces/demo/files/h/${bytes}`, {
        method: 'PUT',
        headers,
        body: Buffer.alloc(bytes, 1),
      })
    expect((await put(12 * megabyte)).status).toBeLessThan(300)
    await a.sh(makeFiles('a', { most: 20 }))
    expect(await recalls()).toBe(before)
    expect(await standings()).toEqual(['lease', 'lease'])
    expect((await put(5 * megabyte)).status).toBe(507)
  })

  it('what one that is killed was promised returns', async () => {
    await site.cairn(['ws', 'quota', 'demo', '--max-files', '300'])
    await share(() => site.mount('/'))
    await b.drain()
    await b.kill()
    expect(await count(a, makeFiles('a/all'))).toBe(300 - (2 + 10) - 1)
    await a.drain()
    expect((await a.status()).rescues).toEqual([])
  })

  it.each(['one token', 'two tokens that were narrowed from one'])(
    'mounts under %s share its budget',
    async (which) => {
      const issue = [
        'token',
        'issue',
        'agent',
        '--ttl',
        '1h',
        '--token-only',
        '--allow',
        '/:read,list,search,write,delete',
      ]
      const { stdout } = await site.cairn([...issue, '--max-files', '200'])
      const token = stdout.trim()
      const narrow = async (): Promise<string> => {
        const narrowed = ['token', 'narrow', '--from-file', keyFile(token), '--ttl', '30m']
        return (await site.cairn(narrowed)).stdout.trim()
      }
      await share(async () => {
        const file = keyFile(which === 'one token' ? token : await narrow())
        return site.mount('/', '--server', site.url, '--api-key-file', file)
      })
      const before = await recalls()
      const made = await Promise.all([count(a, makeFiles('a/new')), count(b, makeFiles('b/new'))])
      expect(made[0] + made[1]).toBe(200 - (2 + 10) - 2)
      expect(await recalls()).toBe(before)
      expect(await standings()).toEqual(['lease', 'lease'])
      for (const mount of [a, b]) expect((await mount.status()).rescues).toEqual([])
    },
  )
})
