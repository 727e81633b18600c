import { setTimeout } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { type Site, timed } from './search-site.ts'
import { median, millis, type Row } from './table.ts'

const rounds = 5
const aloneMs = 3000
const attempts = 20
const changesOfAttempt = 100

/** How fast the background indexes, how large the index is, and how long another client waits meanwhile. */
export async function indexingRows(site: Site, files: number, text: number): Promise<Row[]> {
  await site.call('POST', '/v1/workspaces', JSON.stringify({ name: 'quiet' }))
  const path = '/v1/workspaces/quiet/files/small.txt'
  await site.call('PUT', path, 'small')
  const { url, key } = site.server
  const other = new Worker(new URL('./fairness-client.ts', import.meta.url), {
    workerData: { url: `${url}${path}`, key },
  })
  try {
    await timesBeside(other, () => setTimeout(1000))
    const alone = p99(await timesBeside(other, () => setTimeout(aloneMs)))
    const begin = performance.now()
    let bytes = 0
    const beside = await timesBeside(other, async () => {
      await site.grep({ pattern: 'TokenExpiredOnce' })
      bytes = (await site.indexed(files)).bytes
    })
    const rate = text / 2 ** 20 / ((performance.now() - begin) / 1000)
    const [share, waits] = [bytes / text, p99(beside)]
    return [
      {
        work: 'indexing, in the background',
        figures: [`${rate.toFixed(1)} MB/s`, '', `${share.toFixed(2)} of the text`],
        aim: '≥ 10 MB/s, ≤ 0.35',
        met: rate >= 10 && share <= 0.35,
      },
      {
        work: 'p99 of another client, beside it and alone',
        figures: [millis(waits), millis(alone), `${(waits / alone).toFixed(2)} ×`],
        aim: '< 2 ×',
        met: waits < 2 * alone,
      },
    ]
  } finally {
    await other.terminate()
  }
}

/** The other client's times while the work is done. */
async function timesBeside(
  other: Worker,
  work: () => Promise<unknown>,
): Promise<readonly number[]> {
  const take = (): Promise<readonly number[]> =>
    new Promise((resolve) => {
      other.once('message', resolve)
      other.postMessage('times')
    })
  await take()
  await work()
  return take()
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}

/** Attempts of some changed files each: all of them together beside one. */
export async function attemptsRows(site: Site, files: number): Promise<Row[]> {
  for (let at = 0; at < attempts; at++) {
    const layer = { name: `try-${at}`, path: '/', tags: { task: 'bench' } }
    await site.call('POST', '/v1/workspaces/w/layers', JSON.stringify(layer))
    const operations = Array.from({ length: changesOfAttempt }, (_, change) => ({
      op: 'write',
      path: pathOf((at * changesOfAttempt + change) % files),
      text: `const attempt${at} = TokenExpiredOnce(${change})\n`,
    }))
    await site.call(
      'POST',
      `/v1/workspaces/w/batch?layer=try-${at}`,
      JSON.stringify({ operations }),
    )
  }
  const work = `${attempts} attempts of ${changesOfAttempt} changed files, beside one of them`
  return [
    await attemptsRow(site, `${work}: every file is read`, '[0-9][0-9][0-9]#'),
    // Twenty times as many matches: so much is in the answer, too.
    await attemptsRow(site, `${work}: a match in each changed file`, 'TokenExpiredOnce'),
  ]
}

async function attemptsRow(site: Site, work: string, pattern: string): Promise<Row> {
  const [one, all]: number[][] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const alone = await timed(() => site.grep({ pattern, options: { layer: 'try-7' } }))
    const together = await timed(() => site.grep({ pattern, options: { attempts: 'task=bench' } }))
    if (round === 0) continue
    one!.push(alone.ms)
    all!.push(together.ms)
  }
  const ratio = median(all!) / median(one!)
  return {
    work,
    figures: [millis(median(all!)), millis(median(one!)), `${ratio.toFixed(2)} ×`],
    aim: '≤ 1.5 ×',
    met: ratio <= 1.5,
  }
}

/** As `writeSources` names them. */
function pathOf(at: number): string {
  return `/packages/p${Math.floor(at / 100)}/src/module-${at}.ts`
}

/** A count over the table of files, and the same after changes. The aims are for a million files: CAIRN_BENCH_SQL_FILES. */
export async function sqlRows(site: Site, files: number): Promise<Row[]> {
  await makeMany(site, files)
  const sql = 'select ext, count(*) from files group by ext'
  const query = `/v1/workspaces/many/sql?sql=${encodeURIComponent(sql)}`
  const first = await timed(() => site.call('GET', query))
  const [counted, moved]: number[][] = [[], []]
  for (let round = 0; round <= rounds; round++) {
    const count = await timed(() => site.call('GET', query))
    const operations = Array.from({ length: 1000 }, (_, change) => ({
      op: 'write',
      path: pathOf((round * 1000 + change) % files),
      text: `const round${round} = ${change}\n`,
    }))
    await site.call('POST', '/v1/workspaces/many/batch', JSON.stringify({ operations }))
    const after = await timed(() => site.call('GET', query))
    if (round === 0) continue
    counted!.push(count.ms)
    moved!.push(after.ms - count.ms)
  }
  const [count, move] = [median(counted!), median(moved!)]
  return [
    {
      work: `SQL: count by extension, ${files} files`,
      figures: [millis(count), millis(first.ms), 'beside the first time'],
      aim: '≤ 100 ms at 1M files',
      met: count <= 100,
    },
    {
      work: 'SQL: the same after 1,000 changes, the difference',
      figures: [millis(move)],
      aim: '≤ 50 ms',
      met: move <= 50,
    },
  ]
}

async function makeMany(site: Site, files: number): Promise<void> {
  await site.call('POST', '/v1/workspaces', JSON.stringify({ name: 'many' }))
  for (let from = 0; from < files; from += 1000) {
    const operations = Array.from({ length: Math.min(1000, files - from) }, (_, at) => ({
      op: 'write',
      path: pathOf(from + at),
      text: `${from + at}\n`,
      parents: true,
    }))
    await site.call('POST', '/v1/workspaces/many/batch', JSON.stringify({ operations }))
  }
}
