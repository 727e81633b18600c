import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer, stopServer } from './running-server.ts'
import { attemptsRows, indexingRows, sqlRows } from './search-rows.ts'
import { type Search, Site, timed } from './search-site.ts'
import { writeSources } from './source-text.ts'
import { median, millis, printTable, type Row } from './table.ts'

const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 100_000)
const sqlFiles = Number(process.env['CAIRN_BENCH_SQL_FILES'] ?? files)
const rounds = 5

interface Compared extends Search {
  readonly work: string
  readonly arguments?: readonly string[]
  readonly times: number
}

const searches: readonly Compared[] = [
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
  { work: 'nothing to look up, nor a byte to look for', pattern: '[A-Z]{7}[0-9]', times: 3 },
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
    const rows: Row[] = await indexingRows(site, files, text)
    for (const search of searches) rows.push(await measure(site, tree, search))
    rows.push(...(await attemptsRows(site, files)), ...(await sqlRows(site, sqlFiles)))
    printTable(`search: ${files} files`, ['cairn', 'rg', 'ratio'], rows)
  } finally {
    await stopServer(server)
    rmSync(place, { recursive: true, force: true })
  }
}

async function measure(site: Site, tree: string, search: Compared): Promise<Row> {
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

function ripgrep(tree: string, { pattern, arguments: more = [] }: Compared): number {
  const args = ['--no-config', ...more, '-e', pattern, '.']
  const { stdout } = spawnSync('rg', args, { cwd: tree, encoding: 'utf8', maxBuffer: 1 << 30 })
  return stdout.split('\n').length - 1
}
