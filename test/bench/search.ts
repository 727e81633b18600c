import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { type Running, startServer, stopServer } from './running-server.ts'
import { writeSources } from './source-text.ts'
import { median, millis, printTable, type Row } from './table.ts'

const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 100_000)
const rounds = 5

interface Search {
  readonly work: string
  readonly pattern: string
  readonly options?: Readonly<Record<string, string>>
  readonly arguments?: readonly string[]
  readonly times: number
}

const searches: readonly Search[] = [
  { work: 'a literal in one file', pattern: 'TokenExpiredOnce', times: 0.2 },
  { work: 'a literal in no file', pattern: 'unheardOfName', times: 0.2 },
  { work: 'a regular expression', pattern: 'Token(Expired|Revoked)On[a-z]+', times: 0.2 },
  {
    work: 'without regard to case',
    pattern: 'tokenexpiredonce',
    options: { ignoreCase: 'true' },
    arguments: ['-i'],
    times: 0.2,
  },
  { work: 'nothing to look up', pattern: '[0-9][0-9][0-9]#', times: 3 },
]

/** Searches of a tree of source text, beside ripgrep on the same files in a directory. */
export async function benchSearch(): Promise<void> {
  const place = mkdtempSync(join(tmpdir(), 'cairn-bench-search-'))
  const tree = join(place, 'tree')
  const text = writeSources(tree, files)
  const server = await startServer(join(place, 'data'))
  try {
    const site = new Site(server)
    await site.seed(tree)
    const rows: Row[] = [await indexing(site, text)]
    for (const search of searches) rows.push(await measure(site, tree, search))
    printTable(`search: ${files} files`, ['cairn', 'rg', 'ratio'], rows)
  } finally {
    await stopServer(server)
    rmSync(place, { recursive: true, force: true })
  }
}

async function indexing(site: Site, text: number): Promise<Row> {
  const begin = performance.now()
  await site.grep(searches[0]!)
  const { bytes } = await site.indexed()
  const rate = text / 2 ** 20 / ((performance.now() - begin) / 1000)
  const share = bytes / text
  return {
    work: 'indexing, in the background',
    figures: [`${rate.toFixed(1)} MB/s`, '', `${share.toFixed(2)} of the text`],
    aim: '≥ 10 MB/s, ≤ 0.35',
    met: rate >= 10 && share <= 0.35,
  }
}

async function measure(site: Site, tree: string, search: Search): Promise<Row> {
  const ours: number[] = []
  const theirs: number[] = []
  for (let round = 0; round <= rounds; round++) {
    const found = await timed(() => site.grep(search))
    const wanted = await timed(() => ripgrep(tree, search))
    if (found.result !== wanted.result)
      throw new Error(`${search.work}: ${found.result} lines, ripgrep has ${wanted.result}`)
    // The first one warms.
    if (round > 0) ours.push(found.ms)
    if (round > 0) theirs.push(wanted.ms)
  }
  const ratio = median(ours) / median(theirs)
  return {
    work: search.work,
    figures: [millis(median(ours)), millis(median(theirs)), `${ratio.toFixed(2)} ×`],
    aim: `≤ ${search.times} ×`,
    met: ratio <= search.times,
  }
}

async function timed<T>(work: () => T | Promise<T>): Promise<{ result: T; ms: number }> {
  const begin = performance.now()
  const result = await work()
  return { result, ms: performance.now() - begin }
}

function ripgrep(tree: string, { pattern, arguments: more = [] }: Search): number {
  const args = ['--no-config', ...more, '-e', pattern, '.']
  const { stdout } = spawnSync('rg', args, { cwd: tree, encoding: 'utf8', maxBuffer: 1 << 30 })
  return stdout.split('\n').length - 1
}

class Site {
  readonly #server: Running

  constructor(server: Running) {
    this.#server = server
  }

  async seed(tree: string): Promise<void> {
    await this.#call('POST', '/v1/workspaces', JSON.stringify({ name: 'w' }))
    const seed = join(tree, 'packages/p0/src/session.ts')
    execFileSync('tee', [seed], { input: 'throw new TokenExpiredOnce()\n', stdio: 'pipe' })
    const archive = execFileSync('tar', ['c', '-C', tree, '.'], { maxBuffer: 4 * 2 ** 30 })
    await this.#call('POST', '/v1/workspaces/w/files/?import', archive)
  }

  /** Resolves when every file is indexed. */
  async indexed(): Promise<{ readonly bytes: number }> {
    for (;;) {
      const text = await this.#call('GET', '/v1/server/status')
      const { contents, bytes, waiting } = JSON.parse(text).search
      if (contents >= files && waiting === 0) return { bytes }
      await setTimeout(50)
    }
  }

  /** Gives how many lines were found. */
  async grep({ pattern, options }: Search): Promise<number> {
    const query = new URLSearchParams({ pattern, ...options, timeMs: '60000' })
    const text = await this.#call('GET', `/v1/workspaces/w/grep?${query.toString()}`)
    return text.split('\n').filter((line) => line.startsWith('{"type":"match"')).length
  }

  async #call(method: string, path: string, body?: string | Buffer): Promise<string> {
    const { url, key } = this.#server
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}` },
      ...(body === undefined ? {} : { body }),
    })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    return text
  }
}
