import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noMount, Site, type SiteMount } from '../mount/fixture.ts'
import { millis, printTable, type Row } from './table.ts'

const directories = 30
const filesEach = 48
const smallFiles = 500
const rounds = 5

/** What a second client costs a mount that works, as a ratio to the same work alone in the same run. */
export async function benchSharing(): Promise<void> {
  if (noMount !== undefined) return console.error(`sharing: skipped, ${noMount}`)
  const site = await Site.open()
  try {
    const rows = await measureAll(site)
    printTable('sharing: beside the same work alone', ['alone', 'beside', 'ratio'], rows)
  } finally {
    await Site.closeAll()
  }
}

async function measureAll(site: Site): Promise<Row[]> {
  const source = makeRepository(site)
  const a = await site.mount('/')
  const clones = new Timed(() => a.sh(`git clone -q --no-local ${source} ${next('clone')}`))
  const files = new Timed(async () => writeSmall(a, next('small')))
  const before = { clone: await clones.best(), files: await files.best() }
  const b = await site.mount('/')
  await b.sh('ls -lR . > /dev/null')
  const idle = { clone: await clones.best(), files: await files.best() }
  mkdirSync(b.path('other'))
  const stopWriter = beside((n) => writeFileSync(b.path(`other/${n}`), 'b'), 20)
  const besideWriter = await clones.best()
  await stopWriter()
  const puts = new HttpWrites(site)
  const stopPuts = beside((n) => puts.write(n), 100)
  const besidePuts = await clones.best()
  await stopPuts()
  const both = await cloneBoth(source, a, b)
  const handedOver = handOvers(a, b)
  await b.unmount()
  // A mount that knows more is slower: what is between the two is compared with both.
  const after = { clone: await clones.best(), files: await files.best() }
  const clone = (before.clone + after.clone) / 2
  return [
    row('git clone, an idle mount', clone, idle.clone, 1.1),
    row(
      `${smallFiles} small files, an idle mount`,
      (before.files + after.files) / 2,
      idle.files,
      1.1,
    ),
    row('git clone, a mount that writes elsewhere', clone, besideWriter, 1.3),
    row('git clone, 10 HTTP writes a second', clone, besidePuts, 1.2),
    latency('those HTTP writes, p99', puts.ms, 20),
    row('git clone, another one on the other mount', clone, both, 2.2),
    latency('close on A to open on B, p99', handedOver, 20),
  ]
}

/** Each into a directory of its own, at the same moment. The slower one of a round counts. */
async function cloneBoth(source: string, a: SiteMount, b: SiteMount): Promise<number> {
  const directories = [a, b].map((mount) => [mount, next('both')] as const)
  for (const [mount, directory] of directories) mkdirSync(mount.path(directory))
  const clones = new Timed(() =>
    Promise.all(
      directories.map(([mount, directory]) =>
        mount.sh(`git clone -q --no-local ${source} ${directory}/${next('clone')}`),
      ),
    ),
  )
  return clones.best()
}

let count = 0
function next(name: string): string {
  return `${name}${++count}`
}

/** Runs work several times and gives the best: a busy machine makes single runs meaningless. */
class Timed {
  readonly #work: () => Promise<unknown>

  constructor(work: () => Promise<unknown>) {
    this.#work = work
  }

  async best(): Promise<number> {
    const times: number[] = []
    for (let round = 0; round < rounds; round++) {
      const begin = performance.now()
      await this.#work()
      times.push(performance.now() - begin)
    }
    return Math.min(...times)
  }
}

function writeSmall(mount: SiteMount, directory: string): void {
  mkdirSync(mount.path(directory))
  for (let n = 0; n < smallFiles; n++)
    writeFileSync(mount.path(`${directory}/${n}`), Buffer.alloc(4096, n))
}

function makeRepository(site: Site): string {
  const source = join(site.directory, 'source')
  mkdirSync(source)
  for (let d = 0; d < directories; d++) {
    mkdirSync(join(source, `d${d}`))
    for (let f = 0; f < filesEach; f++)
      writeFileSync(join(source, `d${d}/f${f}`), `${d} ${f}\n`.repeat(500))
  }
  const commit =
    'git init -q .; git add .; git -c user.name=n -c user.email=e@example.org commit -qm one'
  execFileSync('/bin/sh', ['-ec', commit], { cwd: source })
  return source
}

/** Does something every so often until it is stopped. */
function beside(work: (n: number) => unknown, everyMs: number): () => Promise<void> {
  let n = 0
  let last: unknown
  const timer = setInterval(() => (last = work(n++)), everyMs)
  return async () => {
    clearInterval(timer)
    await last
  }
}

class HttpWrites {
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
  mkdirSync(a.path('handover'))
  return Array.from({ length: 200 }, (_, n) => {
    writeFileSync(a.path('handover/f'), `${n}`)
    const begin = performance.now()
    if (readFileSync(b.path('handover/f'), 'utf8') !== `${n}`) throw new Error('B shows old bytes')
    return performance.now() - begin
  })
}

function row(work: string, alone: number, ms: number, most: number): Row {
  const ratio = ms / alone
  const figures = [millis(alone), millis(ms), `${ratio.toFixed(2)} ×`]
  return { work, figures, aim: `≤ ${most} ×`, met: ratio <= most }
}

function latency(work: string, times: readonly number[], mostMs: number): Row {
  const sorted = times.toSorted((a, b) => a - b)
  const p99 = sorted[Math.floor(sorted.length * 0.99)]!
  return { work, figures: ['', millis(p99), ''], aim: `≤ ${mostMs} ms`, met: p99 <= mostMs }
}
