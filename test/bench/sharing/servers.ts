import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'
import { Site, type SiteMount } from '../../mount/fixture.ts'
import { wants } from '../mount/result.ts'
import type { Row } from '../table.ts'
import { beside, HttpWrites } from './clones.ts'
import { makeRepository } from './repository.ts'
import { besideIdleLoop, latency, next, row, rounds } from './timed.ts'

/** So many give a p99 in each run. */
const putsEach = 40

export const serverNames: readonly string[] = ['servers', 'server-puts']

/** What it costs two mounts of one branch to be connected to two servers, as a ratio to the same work through one. */
export async function benchServers(): Promise<Row[]> {
  if (whyNoMysql !== undefined) {
    console.error(`sharing: no rows of two servers, ${whyNoMysql}`)
    return []
  }
  const mysql = await startMysql()
  const sites: Site[] = []
  try {
    await openSites(mysql, sites)
    return await benchBetween(sites[0]!, sites[1]!)
  } finally {
    for (const site of sites.toReversed()) await site.close()
    await mysql.stop()
  }
}

async function openSites(mysql: MysqlServer, sites: Site[]): Promise<void> {
  const [meta, masterKey] = [await mysql.createDatabase(), randomBytes(32).toString('hex')]
  sites.push(await Site.open({ meta, masterKey, peerAddress: 'own' }))
  sites.push(await Site.openBeside(sites[0]!))
}

/** The first mount makes its server the home. The third one writes while the second one is idle, and the other way round. */
async function benchBetween(home: Site, other: Site): Promise<Row[]> {
  const source = makeRepository(home)
  const first = await home.mount('/')
  const [here, there] = [await home.mount('/'), await other.mount('/')]
  const rows: Row[] = []
  if (wants('servers')) {
    const [one, two] = [new Pair(source, first, here), new Pair(source, first, there)]
    // The first ones are slower: code is compiled, and memory is taken.
    for (let round = 0; round <= rounds; round++) for (const pair of [one, two]) await pair.clone()
    const work = 'git clone on two mounts of two servers, to two mounts of one'
    rows.push(row(work, one.bestMs, two.bestMs, 1.2))
  }
  if (wants('server-puts')) rows.push(...(await besidePuts(source, first, home, other)))
  return rows
}

/** Two mounts that clone at the same moment, each into a directory of its own. The slower one of a round counts. */
class Pair {
  bestMs = Infinity
  readonly #source: string
  readonly #mounts: readonly SiteMount[]

  constructor(source: string, ...mounts: SiteMount[]) {
    this.#source = source
    this.#mounts = mounts
  }

  async clone(): Promise<void> {
    const directories = this.#mounts.map((mount) => [mount, next('pair')] as const)
    for (const [mount, directory] of directories) mkdirSync(mount.path(directory))
    const begin = performance.now()
    await Promise.all(
      directories.map(([mount, directory]) =>
        mount.sh(`git clone -q --no-local ${this.#source} ${directory}/clone`),
      ),
    )
    this.bestMs = Math.min(this.bestMs, performance.now() - begin)
    await Promise.all(this.#mounts.map((mount) => mount.drain()))
  }
}

/** Changes through both servers, while a mount of the home clones. */
async function besidePuts(
  source: string,
  mount: SiteMount,
  home: Site,
  other: Site,
): Promise<Row[]> {
  const rows: Row[] = []
  for (const [site, where] of [
    [home, 'the home'],
    [other, 'another server'],
  ] as const) {
    const puts = new HttpWrites(site)
    const runs = await besideIdleLoop(async () => {
      puts.ms.length = 0
      const stop = beside((n) => puts.write(n), 100)
      while (puts.ms.length < putsEach)
        await mount.sh(`git clone -q --no-local ${source} ${next('clone')}`)
      await stop()
      return [...puts.ms]
    })
    for (const part of ['p50', 'p99'] as const)
      rows.push(latency(`HTTP writes through ${where}`, runs, { part, mostMs: 20 }))
  }
  return rows
}
