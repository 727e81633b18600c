import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Held } from './held-turns.ts'
import { askProcess, type Running, startServer, stopServer } from './running-server.ts'
import { millis, printTable, type Row } from './table.ts'

const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 200_000)
const levels = Math.min(10_000, files)
const filesPerRequest = 1000
const levelsPerPath = 2000
/** `CAIRN_BENCH_ONLY=copy,blame` measures only those rows; a row is named by the first word of its title. */
const only = process.env['CAIRN_BENCH_ONLY']?.split(',')

/** How long another client's small requests take beside one request that is a lot of work. */
export async function benchFairness(): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'cairn-bench-'))
  const profile = process.env['CAIRN_BENCH_PROFILE']
  const server = await startServer(
    join(data, 'server'),
    profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`],
  )
  try {
    const rows = await measureAll(new Site(server))
    const columns = ['p99', 'maximum', 'loop held', 'by us', 'by V8', 'machine', 'took', 'answers']
    printTable(`fairness: another client beside ${files} files`, columns, rows)
    console.log(
      'loop held: the most processor time that the server used in one turn of its loop; aim: 20 ms\n' +
        'by us: the same without garbage collection; by V8: the longest pause of its garbage collection\n' +
        'machine: the longest that a loop with nothing to do had to wait; p99 and maximum include it',
    )
  } finally {
    await stopServer(server)
    await rm(data, { recursive: true })
  }
}

async function measureAll(site: Site): Promise<Row[]> {
  for (const workspace of ['quiet', 'noisy', 'log', 'deep'])
    await site.call('POST', '', JSON.stringify({ name: workspace }))
  await site.call('PUT', '/quiet/files/small.txt', 'small')
  await seedFiles(site)
  const other = new Worker(new URL('./fairness-client.ts', import.meta.url), {
    workerData: { url: `${site.url}/quiet/files/small.txt`, key: site.server.key },
  })
  const control = new Worker(new URL('./idle-loop.ts', import.meta.url))
  try {
    // The first ones are slower: code is compiled, connections are made.
    await timesBeside(other, () => setTimeout(2000))
    await takeStall(control)
    await heldFigures(site)
    const alone = figuresOf(await timesBeside(other, () => setTimeout(5000)))
    const own = [millis(alone.p99), millis(alone.max)]
    const figures = [...own, ...(await heldFigures(site)), millis(await takeStall(control))]
    const rows: Row[] = [{ work: 'alone', figures }]
    for (const [work, noise] of Object.entries(noises)) {
      if (only && !only.includes(work.split(/\W/)[0]!)) continue
      rows.push(await measure(site, { other, control }, { work, noise, alone: alone.p99 }))
      console.error(`fairness: ${work} done`)
    }
    return rows
  } finally {
    await Promise.all([other.terminate(), control.terminate()])
  }
}

async function measure(
  site: Site,
  { other, control }: { other: Worker; control: Worker },
  { work, noise, alone }: { work: string; noise: Noise; alone: number },
): Promise<Row> {
  await heldFigures(site)
  await takeStall(control)
  const begin = performance.now()
  let answers: readonly number[] = []
  const times = await timesBeside(other, async () => (answers = await noise(site)))
  const seconds = (performance.now() - begin) / 1000
  const { p99, max } = figuresOf(times)
  const held = await heldFigures(site)
  const stall = await takeStall(control)
  const spent = `${seconds.toFixed(1)} s`
  return {
    work,
    figures: [millis(p99), millis(max), ...held, millis(stall), spent, count(answers)],
    aim: `p99 ≤ ${millis(5 * alone)}, maximum ≤ 100 ms`,
    met: p99 <= 5 * alone && max <= 100,
  }
}

/** Since they were last asked for. */
async function heldFigures(site: Site): Promise<string[]> {
  const { mostMs, ownMs, pauseMs } = await askProcess<Held>(site.server, 'delay')
  return [mostMs, ownMs, pauseMs].map(millis)
}

async function timesBeside(other: Worker, work: () => Promise<unknown>): Promise<number[]> {
  await takeTimes(other)
  await work()
  return takeTimes(other)
}

async function takeTimes(other: Worker): Promise<number[]> {
  other.postMessage('times')
  const [times] = (await once(other, 'message')) as [number[]]
  return times
}

/** In milliseconds, since it was last asked. */
async function takeStall(control: Worker): Promise<number> {
  control.postMessage('stall')
  const [stallMs] = (await once(control, 'message')) as [number]
  return stallMs
}

function figuresOf(times: readonly number[]): { p99: number; max: number } {
  const sorted = [...times].sort((a, b) => a - b)
  return { p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, max: sorted.at(-1) ?? 0 }
}

/** `200×3 413` for three answers of 200 and one of 413. */
function count(statuses: readonly number[]): string {
  const counts = Map.groupBy(statuses, (status) => status)
  return [...counts].map(([status, { length }]) => `${status}×${length}`).join(' ')
}

/** Does the work, and gives the statuses of the answers. */
type Noise = (site: Site) => Promise<readonly number[]>

const json = (body: unknown): string => JSON.stringify(body)

const counted = encodeURIComponent('select count(*), max(actor) from files')

const noises: Readonly<Record<string, Noise>> = {
  'list everything': async (site) => [await site.call('GET', '/noisy/files/?list&recursive')],
  'pages, 8 at once': (site) =>
    Promise.all(
      Array.from({ length: 8 }, () => site.call('GET', '/noisy/files/?list&recursive&limit=1000')),
    ),
  'copy everything': async (site) => [
    await site.call('POST', '/noisy/files/all?copy', json({ to: '/copied' })),
  ],
  'copy 5000 files': async (site) => [
    await site.call('POST', '/noisy/files/all/0?copy', json({ to: '/part' })),
  ],
  'log of a path': async (site) => [
    await site.call('GET', '/noisy/log?path=/all/0/f1&limit=1000&paths=then'),
  ],
  'history of a path': async (site) => [await site.call('GET', '/noisy/files/all/0/f1?history')],
  'blame of a file': async (site) => [await site.call('GET', '/noisy/blame?path=/all/0/f1')],
  'storm of writes': (site) => storm(site),
  'search of all files': async (site) => [await site.call('GET', '/noisy/grep?pattern=f1.*9')],
  'find in all files': async (site) => [await site.call('GET', '/noisy/find?name=*99')],
  'sql on all files': async (site) => [await site.call('GET', `/noisy/sql?sql=${counted}`)],
  'move, then sql': async (site) => [
    await site.call('POST', '/noisy/files/all?move', json({ to: '/moved' })),
    await site.call('GET', `/noisy/sql?sql=${counted}`),
    await site.call('POST', '/noisy/files/moved?move', json({ to: '/all' })),
    await site.call('GET', `/noisy/sql?sql=${counted}`),
  ],
  'bundle of everything': async (site) => [await site.call('GET', '/noisy/bundle')],
  'git export': async (site) => [
    await site.ask('GET', '/git/noisy/info/refs?service=git-upload-pack'),
  ],
  'fork and diff': (site) => layerOfChanges(site),
  'json of 8 MiB': async (site) => [
    await site.call('POST', '/noisy/batch', '['.repeat(4 << 20) + ']'.repeat(4 << 20)),
  ],
  'deep tree': (site) => deepTree(site),
  'remove 5000 files': async (site) => [await site.call('DELETE', '/noisy/files/all/0?recursive')],
  'remove everything': async (site) => [await site.call('DELETE', '/noisy/files/all?recursive')],
}

async function seedFiles(site: Site): Promise<void> {
  for (let at = 0; at < files; at += filesPerRequest) {
    const operations = Array.from({ length: filesPerRequest }, (_, i) => ({
      op: 'write',
      path: `/all/${Math.floor((at + i) / 5000)}/f${at + i}`,
      text: `content of file ${at + i}`,
      parents: true,
    }))
    const status = await site.call('POST', '/noisy/batch', json({ operations }))
    if (status !== 200) throw new Error(`seeding was answered with ${status}`)
  }
}

/** As many requests at once as connections carry, each with many small writes. */
async function storm(site: Site): Promise<readonly number[]> {
  const requests = Math.ceil(files / filesPerRequest)
  const batch = (n: number): string =>
    json({
      operations: Array.from({ length: filesPerRequest }, (_, i) => ({
        op: 'write',
        path: `/storm/${n}/f${i}`,
        text: `storm ${n}`,
        parents: true,
      })),
    })
  return Promise.all(
    Array.from({ length: requests }, (_, n) => site.call('POST', '/log/batch', batch(n))),
  )
}

async function layerOfChanges(site: Site): Promise<readonly number[]> {
  const statuses = [await site.call('POST', '/noisy/layers', json({ name: 'attempt' }))]
  for (let n = 0; n < 10; n++) {
    const operations = Array.from({ length: filesPerRequest }, (_, i) => ({
      op: 'write',
      path: `/all/${n}/f${n * 5000 + i}`,
      text: `changed ${i}`,
      parents: true,
    }))
    statuses.push(await site.call('POST', '/noisy/batch?layer=attempt', json({ operations })))
  }
  statuses.push(await site.call('GET', '/noisy/layers/attempt/diff'))
  statuses.push(await site.call('POST', '/noisy/layers/attempt/commit', json({})))
  return statuses
}

/** A path is at most 4095 bytes, so a deeper tree is put together by moving one below another. */
async function deepTree(site: Site): Promise<readonly number[]> {
  const statuses: number[] = []
  const chain = Array<string>(Math.min(levels, levelsPerPath) - 2)
    .fill('d')
    .join('/')
  for (let depth = 0; depth < levels; depth += levelsPerPath) {
    const top = `/t${depth}`
    const body = json({ parents: true })
    statuses.push(await site.call('POST', `/deep/files${top}/${chain}?mkdir`, body))
    const to = `${top}/${chain}/d`
    if (depth > 0) {
      const path = `/deep/files/t${depth - levelsPerPath}?move`
      statuses.push(await site.call('POST', path, json({ to })))
    }
  }
  statuses.push(await site.call('GET', '/deep/files/?list&recursive'))
  statuses.push(await site.call('DELETE', `/deep/files/t${levels - levelsPerPath}?recursive`))
  return statuses
}

class Site {
  readonly server: Running

  constructor(server: Running) {
    this.server = server
  }

  get url(): string {
    return `${this.server.url}/v1/workspaces`
  }

  /** Below the workspaces. */
  call(method: string, path: string, body?: string): Promise<number> {
    return this.ask(method, `/v1/workspaces${path}`, body)
  }

  /** Gives the status once the whole answer has come. */
  async ask(method: string, path: string, body?: string): Promise<number> {
    const answer = await fetch(this.server.url + path, {
      method,
      headers: { authorization: `Bearer ${this.server.key}` },
      ...(body === undefined ? {} : { body }),
    })
    if (answer.body) for await (const _ of answer.body);
    return answer.status
  }
}
