import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { Site, SiteMount } from '../../mount/fixture.ts'
import { wants } from '../mount/result.ts'
import type { Row } from '../table.ts'
import { makeRepository } from './repository.ts'
import { best, besideIdleLoop, latency, next, row } from './timed.ts'

const smallFiles = 500
/** So many give a p99 in each run. */
const putsEach = 40

export const cloneNames: readonly string[] = ['idle', 'writer', 'puts', 'both', 'handover']

/** What a second client costs a mount that clones, as a ratio to the same work alone in the same run. */
export async function benchClones(site: Site): Promise<Row[]> {
  const source = makeRepository(site)
  const a = await site.mount('/')
  const clone = (): Promise<string> => a.sh(`git clone -q --no-local ${source} ${next('clone')}`)
  const files = async (): Promise<void> => writeSmall(a, next('small'))
  const measure = async (): Promise<Figures> => {
    return { clone: await best(clone), files: await best(files) }
  }
  // The first ones are slower: code is compiled, and memory is taken.
  await measure()
  const before = await measure()
  const b = await site.mount('/')
  await b.sh('ls -lR . > /dev/null')
  const found: ((alone: Figures) => Row)[] = []
  if (wants('idle')) {
    const idle = await measure()
    const work = `${smallFiles} small files, an idle mount`
    found.push(
      (alone) => row('git clone, an idle mount', alone.clone, idle.clone, 1.1),
      (alone) => row(work, alone.files, idle.files, 1.1),
    )
  }
  if (wants('writer')) {
    const ms = await besideWriter(b, clone)
    found.push((alone) => row('git clone, a mount that writes elsewhere', alone.clone, ms, 1.3))
  }
  if (wants('puts')) found.push(...(await besidePuts(site, clone)))
  if (wants('both')) {
    const both = await cloneBoth(source, a, b)
    found.push((alone) => row('git clone, another one on the other mount', alone.clone, both, 2.2))
  }
  if (wants('handover')) {
    const runs = await besideIdleLoop(async () => handOvers(a, b))
    found.push(() => latency('close on A to open on B', runs, { part: 'p99', mostMs: 20 }))
  }
  await b.unmount()
  // A mount that knows more is slower: what is between the two is compared with both.
  const after = await measure()
  const alone = {
    clone: (before.clone + after.clone) / 2,
    files: (before.files + after.files) / 2,
  }
  return found.map((make) => make(alone))
}

interface Figures {
  readonly clone: number
  readonly files: number
}

async function besideWriter(b: SiteMount, clone: () => Promise<unknown>): Promise<number> {
  mkdirSync(b.path('other'))
  const stop = beside((n) => writeFileSync(b.path(`other/${n}`), 'b'), 20)
  const ms = await best(clone)
  await stop()
  return ms
}

async function besidePuts(
  site: Site,
  clone: () => Promise<unknown>,
): Promise<((alone: Figures) => Row)[]> {
  const puts = new HttpWrites(site)
  const clones: number[] = []
  const runs = await besideIdleLoop(async () => {
    puts.ms.length = 0
    const stop = beside((n) => puts.write(n), 100)
    while (puts.ms.length < putsEach) {
      const begin = performance.now()
      await clone()
      clones.push(performance.now() - begin)
    }
    await stop()
    return [...puts.ms]
  })
  return [
    (alone) => row('git clone, 10 HTTP writes a second', alone.clone, Math.min(...clones), 1.2),
    () => latency('those HTTP writes', runs, { part: 'p50', mostMs: 20 }),
    () => latency('those HTTP writes', runs, { part: 'p99', mostMs: 20 }),
  ]
}

/** Each into a directory of its own, at the same moment. The slower one of a round counts. */
async function cloneBoth(source: string, a: SiteMount, b: SiteMount): Promise<number> {
  const directories = [a, b].map((mount) => [mount, next('both')] as const)
  for (const [mount, directory] of directories) mkdirSync(mount.path(directory))
  return best(() =>
    Promise.all(
      directories.map(([mount, directory]) =>
        mount.sh(`git clone -q --no-local ${source} ${directory}/${next('clone')}`),
      ),
    ),
  )
}

function writeSmall(mount: SiteMount, directory: string): void {
  mkdirSync(mount.path(directory))
  for (let n = 0; n < smallFiles; n++)
    writeFileSync(mount.path(`${directory}/${n}`), Buffer.alloc(4096, n))
}

/** Does something every so often until it is stopped. */
export function beside(work: (n: number) => unknown, everyMs: number): () => Promise<void> {
  let n = 0
  let last: unknown
  const timer = setInterval(() => (last = work(n++)), everyMs)
  return async () => {
    clearInterval(timer)
    await last
  }
}

export class HttpWrites {
  readonly ms: number[] = []
  readonly #site: Site

  constructor(site: Site) {
    this.#site = site
  }

  async write(n: number): Promise<void> {
    const url = `${this.#site.url}/v1/workspaces/demo/files/elsewhere/${n % 10}`
    const headers = { authorization: `Bearer ${this.#site.key}` }
    const begin = performance.now()
    const { ok } = await fetch(url, { method: 'PUT', headers, body: 'text' })
    if (!ok) throw new Error('cannot write through HTTP')
    this.ms.push(performance.now() - begin)
  }
}

function handOvers(a: SiteMount, b: SiteMount): number[] {
  const directory = next('handover')
  mkdirSync(a.path(directory))
  return Array.from({ length: 200 }, (_, n) => {
    writeFileSync(a.path(directory, 'f'), `${n}`)
    const begin = performance.now()
    const text = readFileSync(b.path(directory, 'f'), 'utf8')
    if (text !== `${n}`) throw new Error('B shows old bytes')
    return performance.now() - begin
  })
}
