import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { noMount, Site } from '../mount/fixture.ts'
import { columns, rateRow, ratioRow, secondsRow } from './git/rows.ts'
import { Stopwatch, type Timed } from './git/timed.ts'
import { Bundle } from './mount/bundle.ts'
import { printTable, type Row } from './table.ts'

const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 50_000)
const packedFiles = Math.min(30_000, files)
const changedFiles = 100

/** What the works share. */
interface Bench {
  readonly site: Site
  readonly place: string
  readonly bundle: Bundle
  readonly watch: Stopwatch
}

/** Clones, status, packs and exports of many small files, beside git on the local disk. */
export async function benchGit(): Promise<void> {
  const site = await Site.open()
  try {
    const place = join(site.directory, 'bench')
    mkdirSync(place)
    const bundle = Bundle.build(place, site)
    const bench = { site, place, bundle, watch: new Stopwatch(site.serverPid, bundle.env) }
    makeFiles(join(place, 'origin'), files)
    commitAll(join(place, 'origin'))
    const rows = [...benchClones(bench), ...benchExport(bench)]
    if (noMount === undefined) rows.push(...benchMounts(bench), ...benchTiers(bench))
    printTable(`git: ${files} files, beside git on the local disk`, columns, rows)
  } finally {
    await site.close()
  }
}

function cairn({ bundle, watch, place }: Bench, ...args: string[]): Timed {
  return watch.run(process.execPath, [bundle.program, ...args], place)
}

function git({ watch, place }: Bench, ...args: string[]): Timed {
  return watch.run('git', args, place)
}

function benchClones(bench: Bench): Row[] {
  const { place } = bench
  const url = `file://${place}/origin`
  // The first one reads from the disk what the others find in memory.
  git(bench, 'clone', '-q', '--no-checkout', url, 'cold')
  const fetched = git(bench, 'clone', '-q', '--no-checkout', url, 'fetched')
  const plain = git(bench, 'clone', '-q', url, 'plain')
  const clone = (to: string, ...options: string[]): Timed =>
    cairn(bench, 'git', 'clone', '--fast', ...options, url, to)
  const fast = clone(':/repo')
  return [
    ratioRow('clone --fast, beside a plain clone', fast, plain, 0.3),
    ratioRow('clone --fast, beside git’s own fetch', fast, fetched),
    secondsRow('clone --fast, more than that fetch', minus(fast, fetched), 0.5),
    ratioRow('the same again, content known', clone(':/second'), plain),
    ratioRow('clone --fast --blobless', clone(':/blobless', '--blobless'), plain),
  ]
}

function benchExport(bench: Bench): Row[] {
  const { url, key } = bench.site
  const remote = `${url.replace('://', `://me:${key}@`)}/git/demo`
  return [rateRow('export of the three to git', git(bench, 'ls-remote', remote), 3 * files, 5000)]
}

function benchMounts(bench: Bench): Row[] {
  const { place, bundle } = bench
  const [first, second] = [join(place, 'first'), join(place, 'second')]
  const status = (repository: string): Timed => git(bench, '-C', repository, 'status')
  const plain = join(place, 'plain')
  status(plain)
  const warm = status(plain)
  const checkout = git(bench, '-C', join(place, 'fetched'), 'checkout', '-q', 'HEAD', '--', '.')
  bundle.run('mount', ':/', first)
  const repository = join(first, 'repo')
  const fresh = status(repository)
  // A mount tells its newest changes once more, for two seconds.
  execFileSync('sleep', ['3'])
  status(repository)
  const later = status(repository)
  for (let file = 0; file < changedFiles; file++)
    appendFileSync(join(repository, `d0/f${file}.txt`), 'more\n')
  const changed = status(repository)
  const reading = filesRead(bench, repository)
  const sandbox = bench.watch.run(
    'bash',
    [
      '-ec',
      '"$1" "$2" mount :/ "$3"; git -C "$3/repo" log -1',
      'bash',
      process.execPath,
      bundle.program,
      second,
    ],
    place,
  )
  for (const mount of [second, first]) bundle.run('umount', mount)
  return [
    ratioRow('first status in a mount, beside a warm one', fresh, warm, 1.2),
    ratioRow('a later status', later, warm),
    ratioRow(`status after ${changedFiles} changes`, changed, warm),
    ratioRow('each file read once, beside a checkout', reading, checkout, 1.5),
    secondsRow('a second sandbox, to its first git log', sandbox, 0.5),
  ]
}

function filesRead({ watch, place }: Bench, repository: string): Timed {
  const script = 'git -C "$1" ls-files -z | (cd "$1" && xargs -0 cat)'
  return watch.run('bash', ['-ec', script, 'bash', repository], place)
}

function benchTiers(bench: Bench): Row[] {
  const { place, bundle } = bench
  const mount = join(place, 'tiers')
  bundle.run('mount', '--profile', 'portable', ':/', mount)
  const modules = join(mount, 'app/node_modules')
  makeFiles(modules, packedFiles)
  bundle.run('pack', '--mount', mount)
  for (let file = 0; file < changedFiles; file++)
    appendFileSync(join(modules, `d0/f${file}.txt`), 'more\n')
  const few = cairn(bench, 'pack', '--mount', mount)
  bundle.run('umount', mount)
  writeFileSync(join(place, 'lock'), 'one\n')
  const warm = (): Timed => cairn(bench, 'ws', 'warm', '--key-file', 'lock', '--', 'true')
  const miss = warm()
  return [
    secondsRow(`pack of ${packedFiles} files after ${changedFiles} changes`, few, 1),
    ratioRow('ws warm that hits, beside one that misses', warm(), miss),
    secondsRow('ws warm that hits', warm(), 0.5),
  ]
}

function minus(timed: Timed, other: Timed): Timed {
  return {
    seconds: timed.seconds - other.seconds,
    cpuSeconds: timed.cpuSeconds - other.cpuSeconds,
  }
}

function makeFiles(place: string, count: number): void {
  for (let directory = 0; directory * 100 < count; directory++) {
    mkdirSync(join(place, `d${directory}`), { recursive: true })
    for (let file = 0; file < 100; file++)
      writeFileSync(join(place, `d${directory}/f${file}.txt`), `${directory} ${file}\n`.repeat(50))
  }
}

function commitAll(repository: string): void {
  const identity = ['-c', 'user.name=n', '-c', 'user.email=n@example.org']
  for (const args of [
    ['init', '-q'],
    ['config', 'uploadpack.allowFilter', 'true'],
    ['config', 'uploadpack.allowAnySHA1InWant', 'true'],
    ['add', '-A'],
    [...identity, 'commit', '-q', '-m', 'all'],
  ])
    execFileSync('git', ['-C', repository, ...args])
}
