import { readFileSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate } from 'node:timers/promises'
import { type BatchOperation, Cairn, type Workspace } from '@cairn/sdk'
import { noMount, Site } from '../mount/fixture.ts'
import { median, millis, printTable, type Row } from './table.ts'

/** For a shorter run: `CAIRN_BENCH_FILES=100000 npm run bench -- layers`. */
const largest = Number(process.env['CAIRN_BENCH_FILES'] ?? 1_000_000)
const sizes = [1000, 10_000, ...(largest > 100_000 ? [100_000] : []), largest] as const
const filesPerDirectory = 100
const operationsPerBatch = 1000
const changedFiles = 1000
const rounds = 15

/** Layers over HTTP, on the embedded store, in trees of several sizes. */
export async function benchLayers(): Promise<void> {
  const site = await Site.open()
  const cairn = new Cairn({ server: site.url, apiKey: site.key })
  try {
    const columns = await measure(site, cairn)
    const bytes = await measureBytes(cairn, join(site.directory, 'data'))
    const names = sizes.map((files) => `${files} files`)
    printTable('layers: over HTTP, embedded store', names, [...rowsOf(columns), ...bytes])
  } finally {
    await site.close()
  }
}

type Times = Readonly<Record<string, number>>

async function measure(site: Site, cairn: Cairn): Promise<readonly Times[]> {
  const workspaces: Workspace[] = []
  for (const files of sizes) workspaces.push(await fill(cairn, files))
  const quick = await inTurn(workspaces, (workspace, round) => timeQuick(cairn, workspace, round))
  const many = await inTurn(workspaces, timeMany)
  const columns: Times[] = []
  for (const [index, workspace] of workspaces.entries()) {
    const seen = noMount === undefined ? await measureSeen(site, workspace) : Number.NaN
    columns.push({ ...quick[index], ...many[index], seen })
  }
  return columns
}

/**
 * All sizes in each round, once all trees are there. One size after the other would compare a server that has just
 * started, and has compiled little, with one that has built a million files and waits for a disk that still writes them.
 */
async function inTurn(
  workspaces: readonly Workspace[],
  work: (workspace: Workspace, round: number) => Promise<Times>,
): Promise<readonly Times[]> {
  const runs: Times[][] = workspaces.map(() => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, workspace] of workspaces.entries())
      runs[index]!.push(await work(workspace, round))
  return runs.map(medians)
}

function medians(runs: readonly Times[]): Times {
  const keys = Object.keys(runs[0]!)
  return Object.fromEntries(keys.map((key) => [key, median(runs.map((run) => run[key]!))]))
}

/** What takes the same however much there is. */
async function timeQuick(cairn: Cairn, workspace: Workspace, round: number): Promise<Times> {
  const { layers, name } = workspace
  return {
    create: await timeOf(() => layers.create('/repo')),
    fork: await timeOf(() => layers.fork('warm')),
    checkpoint: await timeOf(() => layers.checkpoint('warm')),
    whole: await timeOf(() => cairn.workspaces.fork(name, `${name}-${round}`)),
  }
}

async function timeMany(workspace: Workspace, round: number): Promise<Times> {
  const { layers } = workspace
  const { id } = await layers.create('/repo')
  await change(workspace.layer(id), round)
  const diff = await timeOf(() => layers.diff(id))
  const rollback = await timeOf(() => layers.rollback(id))
  await layers.undo(id)
  return { diff, rollback, commit: await timeOf(() => layers.commit(id)) }
}

/** From the question until a mount that has read every changed file shows the first, middle and last as they were. */
async function measureSeen(site: Site, workspace: Workspace): Promise<number> {
  const { layers } = workspace
  const name = 'seen'
  await layers.create('/repo', { name })
  const mount = await site.mount('/repo', '-w', workspace.name, '--layer', name)
  const read = (index: number): string =>
    readFileSync(mount.path(...placeOf(index)), { encoding: 'utf8' })
  const before = range(0, changedFiles).map(read)
  const times: number[] = []
  for (let round = 0; round < 3; round++) {
    await change(workspace.layer(name), 1000 + round)
    while (read(changedFiles - 1) === before.at(-1)) await setImmediate()
    for (const index of range(0, changedFiles)) read(index)
    const begin = performance.now()
    const rolled = layers.rollback(name)
    for (const index of [0, changedFiles >> 1, changedFiles - 1])
      while (read(index) !== before[index]) await setImmediate()
    times.push(performance.now() - begin)
    await rolled
    const wrong = range(0, changedFiles).filter((index) => read(index) !== before[index])
    if (wrong.length > 0) throw new Error(`${wrong.length} files are not as they were`)
  }
  await mount.unmount()
  return median(times)
}

function placeOf(index: number): readonly [directory: string, file: string] {
  return [`d${Math.floor(index / filesPerDirectory)}`, `f${index}`]
}

async function fill(cairn: Cairn, files: number): Promise<Workspace> {
  const begin = performance.now()
  const name = `w${files}`
  await cairn.workspaces.create(name)
  const workspace = cairn.workspace(name)
  for (let first = 0; first < files; first += operationsPerBatch)
    await workspace.batch(
      range(first, Math.min(files, first + operationsPerBatch)).map((index) => write(index, 'old')),
    )
  // What a first layer folds is not its own doing.
  await workspace.layers.create('/repo', { name: 'warm' })
  console.error(`layers: ${files} files took ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  return workspace
}

/** Whole directories, as work on a part of a repository is. Changes all over a tree cost more the larger it is. */
function change(workspace: Workspace, round: number): Promise<unknown> {
  return workspace.batch(range(0, changedFiles).map((index) => write(index, `new ${round}`)))
}

function write(index: number, text: string): BatchOperation {
  const path = `/repo/${placeOf(index).join('/')}`
  return { op: 'write', path, text: `${text} ${index}\n`, parents: true }
}

const attempts = 50
const filesEach = 100
const bytesEach = 4096

/** How much room parallel attempts take, beside what they change, once the logs are trimmed. */
async function measureBytes(cairn: Cairn, data: string): Promise<Row[]> {
  const workspace = cairn.workspace(`w${Math.min(largest, 100_000)}`)
  await cairn.collectGarbage()
  const before = await storedIn(data)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { id } = await workspace.layers.create('/repo')
    const operations = range(0, filesEach).map((index) => ({
      op: 'write' as const,
      path: `/repo/${placeOf(attempt * filesPerDirectory + index).join('/')}`,
      base64: Buffer.from(crypto.getRandomValues(new Uint8Array(bytesEach))).toString('base64'),
      parents: true,
    }))
    await workspace.layer(id).batch(operations)
    await workspace.layers.checkpoint(id)
  }
  await cairn.collectGarbage()
  const after = await storedIn(data)
  const changed = attempts * filesEach * bytesEach
  const row = (what: keyof Stored, aim: number | undefined): Row => {
    const ratio = (after[what] - before[what]) / changed
    const work = `${attempts} layers × ${filesEach} files: ${what} / bytes changed`
    const figures = [...sizes.slice(0, -1).map(() => ''), `${ratio.toFixed(2)} ×`]
    return aim === undefined
      ? { work, figures }
      : { work, figures, aim: `< ${aim} ×`, met: ratio < aim }
  }
  return [row('bytes stored', 1.2), row('pages in use', undefined)]
}

interface Stored {
  /** As the rows have them, and in objects. */
  readonly 'bytes stored': number
  /** The same with what SQLite adds: a row of 4 KiB does not fit into a page of 4 KiB. */
  readonly 'pages in use': number
}

async function storedIn(data: string): Promise<Stored> {
  const database = new DatabaseSync(join(data, 'meta.db'), { readOnly: true })
  const sum = (sql: string): number => Number(Object.values(database.prepare(sql).get()!)[0])
  const rows = ['log_rows', 'nodes', 'blobs'].map((table) =>
    sum(`SELECT COALESCE(SUM(LENGTH(bytes)), 0) FROM ${table}`),
  )
  const pages = sum('PRAGMA page_count') - sum('PRAGMA freelist_count')
  const pageBytes = pages * sum('PRAGMA page_size')
  database.close()
  const objects = await sizeOf(join(data, 'objects'))
  return {
    'bytes stored': rows.reduce((all, bytes) => all + bytes, objects),
    'pages in use': pageBytes + objects,
  }
}

async function sizeOf(directory: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) bytes += (await stat(join(entry.parentPath, entry.name))).size
  return bytes
}

const words: Readonly<Record<string, string>> = {
  create: 'make a layer',
  fork: 'make a layer on a layer',
  checkpoint: 'make a checkpoint',
  whole: 'fork the workspace',
  diff: `compare ${changedFiles} changes`,
  rollback: `roll ${changedFiles} changes back`,
  commit: `commit ${changedFiles} changes`,
  seen: `roll ${changedFiles} changes back, seen by a live mount`,
}

function rowsOf(columns: readonly Times[]): Row[] {
  return Object.entries(words).map(([key, work]) => {
    const values = columns.map((column) => column[key]!)
    const figures = values.map(millis)
    const isSmall = ['create', 'fork', 'checkpoint', 'whole'].includes(key)
    if (isSmall) return { work, figures, aim: '< 10 ms', met: values.every((value) => value < 10) }
    if (key === 'seen')
      return { work, figures, aim: '< 200 ms', met: values.every((value) => value < 200) }
    const growth = values.at(-1)! / values[1]!
    return { work, figures, aim: '≤ 1.5 × of 10000 files', met: growth <= 1.5 }
  })
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index)
}
