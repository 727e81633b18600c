import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BatchOperation, Cairn, type Workspace } from '@cairn/sdk'
import { median, millis, printTable, type Row } from './table.ts'

/** For a longer run: `CAIRN_BENCH_FILES=1000000 npm run bench -- layers`. */
const sizes = [1000, 10_000, Number(process.env['CAIRN_BENCH_FILES'] ?? 100_000)] as const
const filesPerDirectory = 100
const operationsPerBatch = 1000
const changedFiles = 1000
const rounds = 15

/** Layers over HTTP, on the embedded store, in trees of several sizes. */
export async function benchLayers(): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'cairn-bench-'))
  const { child, cairn } = await start(join(data, 'server'))
  try {
    const columns: Record<string, number>[] = []
    for (const files of sizes) columns.push(await measure(cairn, files))
    const bytes = await measureBytes(cairn, join(data, 'server'))
    const names = sizes.map((files) => `${files} files`)
    printTable('layers: over HTTP, embedded store', names, [...rowsOf(columns), bytes])
  } finally {
    child.send('close')
    await once(child, 'exit')
    await rm(data, { recursive: true })
  }
}

async function start(data: string): Promise<{ child: ChildProcess; cairn: Cairn }> {
  const child = fork(new URL('./server-child.ts', import.meta.url), [data], {
    execArgv: ['--conditions=source', '--expose-gc'],
  })
  const [{ url, ownerKey }] = (await once(child, 'message')) as [{ url: string; ownerKey: string }]
  return { child, cairn: new Cairn({ server: url, apiKey: ownerKey }) }
}

async function measure(cairn: Cairn, files: number): Promise<Record<string, number>> {
  const begin = performance.now()
  const workspace = await fill(cairn, files)
  const { layers } = workspace
  let count = 0
  const fresh = (): string => `l${count++}`
  const create = await timed(() => layers.create('/repo', { name: fresh() }))
  const fork = await timed(() => layers.fork('l0', { name: fresh() }))
  const checkpoint = await timed(() => layers.checkpoint('l0'))
  const whole = await timed(() =>
    cairn.workspaces.fork(workspace.name, `${workspace.name}-${fresh()}`),
  )
  const [diff, rollback, commit]: [number[], number[], number[]] = [[], [], []]
  for (let round = 0; round < 3; round++) {
    const name = fresh()
    await layers.create('/repo', { name })
    await change(workspace.layer(name), round)
    diff.push(await timeOf(() => layers.diff(name)))
    rollback.push(await timeOf(() => layers.rollback(name)))
    await layers.undo(name)
    commit.push(await timeOf(() => layers.commit(name)))
  }
  console.error(`layers: ${files} files took ${((performance.now() - begin) / 1000).toFixed(0)} s`)
  const many = { diff: median(diff), rollback: median(rollback), commit: median(commit) }
  return { create, fork, checkpoint, whole, ...many }
}

async function fill(cairn: Cairn, files: number): Promise<Workspace> {
  const name = `w${files}`
  await cairn.workspaces.create(name)
  const workspace = cairn.workspace(name)
  for (let first = 0; first < files; first += operationsPerBatch)
    await workspace.batch(
      range(first, Math.min(files, first + operationsPerBatch)).map((index) => write(index, 'old')),
    )
  // What a first layer folds is not its own doing.
  await workspace.layers.create('/repo', { name: 'warm' })
  return workspace
}

/** Whole directories, as work on a part of a repository is. Changes all over a tree cost more the larger it is. */
function change(workspace: Workspace, round: number): Promise<unknown> {
  return workspace.batch(range(0, changedFiles).map((index) => write(index, `new ${round}`)))
}

function write(index: number, text: string): BatchOperation {
  const path = `/repo/d${Math.floor(index / filesPerDirectory)}/f${index}`
  return { op: 'write', path, text: `${text} ${index}\n`, parents: true }
}

const attempts = 50
const filesEach = 100
const bytesEach = 4096

/** How much room parallel attempts take, beside what they change. */
async function measureBytes(cairn: Cairn, data: string): Promise<Row> {
  const workspace = cairn.workspace(`w${sizes[2]}`)
  const before = await sizeOf(data)
  for (let attempt = 0; attempt < attempts; attempt++) {
    const { id } = await workspace.layers.create('/repo')
    const operations = range(0, filesEach).map((index) => ({
      op: 'write' as const,
      path: `/repo/d${attempt}/f${attempt * filesPerDirectory + index}`,
      base64: Buffer.from(crypto.getRandomValues(new Uint8Array(bytesEach))).toString('base64'),
      parents: true,
    }))
    await workspace.layer(id).batch(operations)
    await workspace.layers.checkpoint(id)
  }
  const ratio = ((await sizeOf(data)) - before) / (attempts * filesEach * bytesEach)
  const work = `${attempts} layers × ${filesEach} files: bytes stored / bytes changed`
  return { work, figures: ['', '', `${ratio.toFixed(2)} ×`], aim: '< 1.2 ×', met: ratio < 1.2 }
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
}

function rowsOf(columns: readonly Record<string, number>[]): Row[] {
  return Object.entries(words).map(([key, work]) => {
    const values = columns.map((column) => column[key]!)
    const figures = values.map(millis)
    const isSmall = ['create', 'fork', 'checkpoint', 'whole'].includes(key)
    if (isSmall) return { work, figures, aim: '< 10 ms', met: values.every((value) => value < 10) }
    const growth = values[2]! / values[1]!
    return { work, figures, aim: '≤ 1.5 × of 10000 files', met: growth <= 1.5 }
  })
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const values: number[] = []
  for (let round = 0; round < rounds; round++) values.push(await timeOf(work))
  return median(values)
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return performance.now() - begin
}

function range(start: number, end: number): number[] {
  return Array.from({ length: end - start }, (_, index) => start + index)
}
