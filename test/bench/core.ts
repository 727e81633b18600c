import {
  diffPaths,
  makeCheckpoint,
  merge,
  Nodes,
  type Op,
  type Snapshot,
  TreeView,
} from '@cairn/core'
import type { CheckpointId, Hash, Ino } from '@cairn/protocol'
import { sha256 } from '@cairn/server'
import { MemoryDisk } from '@cairn/server/testing'
import { BigTree } from './big-tree.ts'
import { median, micros, millis, printTable, type Row } from './table.ts'

const sizes = [1000, 10_000, 100_000, 1_000_000] as const
const changes = 1000
const repeats = 15

/** Everything measured at one size, in microseconds where it is a time. */
interface Figures {
  readonly lookup: number
  readonly inode: number
  readonly foldClustered: number
  readonly foldRandom: number
  readonly fork: number
  readonly checkpoint: number
  readonly diffClustered: number
  readonly diffRandom: number
  readonly mergeClustered: number
  readonly mergeRandom: number
  readonly bytesPerEntry: number
}

export async function benchCore(): Promise<void> {
  const figures = new Map<number, Figures>()
  // Once for nothing: the first to run would be measured while the code is still being compiled.
  await measure(sizes[1])
  for (const size of sizes) figures.set(size, await measure(size))
  const columns = sizes.map((size) => `${size / 1000}k files`)
  printTable('core: a tree of many files, stores in memory', columns, rowsOf(figures))
}

async function measure(size: number): Promise<Figures> {
  const tree = await BigTree.build(new MemoryDisk().open(), size)
  const base = tree.branch.head.folded.snapshot
  const clustered = clusteredFiles(tree)
  const random = randomFiles(tree)
  return {
    ...(await timeLookups(tree, base)),
    foldClustered: await timeFold(tree, base, newFiles(tree)),
    foldRandom: await timeFold(
      tree,
      base,
      random.flatMap((index) => tree.edit(index, 7)),
    ),
    fork: await timeEach(50, () => tree.fork(base)),
    checkpoint: await timeCheckpoint(tree),
    diffClustered: await timeDiff(tree, base, clustered),
    diffRandom: await timeDiff(tree, base, random),
    mergeClustered: await timeMerge(tree, base, clustered),
    mergeRandom: await timeMerge(tree, base, random),
    bytesPerEntry: await memoryPerEntry(tree, base),
  }
}

/** Random changes have no aim: in 10k files a thousand of them share 270 leaves, in a million each has its own. */
function rowsOf(figures: ReadonlyMap<number, Figures>): Row[] {
  const all = sizes.map((size) => figures.get(size)!)
  const [small, tenThousand, , million] = all as [Figures, Figures, Figures, Figures]
  const row = (work: string, pick: (f: Figures) => string, aim?: string, met?: boolean): Row => ({
    work,
    figures: all.map(pick),
    ...(aim === undefined || met === undefined ? {} : { aim, met }),
  })
  const worst = (field: keyof Figures): number => Math.max(...all.map((f) => f[field]))
  const growth = (field: keyof Figures, from: Figures): number => million[field] / from[field]
  const flat = (field: keyof Figures): [string, boolean] => [
    `1M/1k ≤ 1.5: ${growth(field, small).toFixed(2)}`,
    growth(field, small) <= 1.5,
  ]
  const doubled = (field: keyof Figures): [string, boolean] => [
    `1M/10k ≤ 2: ${growth(field, tenThousand).toFixed(2)}`,
    growth(field, tenThousand) <= 2,
  ]
  return [
    row('look up a name', (f) => micros(f.lookup), '≤ 10 µs', worst('lookup') <= 10),
    row('read an inode', (f) => micros(f.inode), '≤ 10 µs', worst('inode') <= 10),
    row(
      'fold 1,000 clustered ops, per op',
      (f) => micros(f.foldClustered / changes),
      '≤ 10 µs',
      worst('foldClustered') / changes <= 10,
    ),
    row('fold 1,000 random ops, per op', (f) => micros(f.foldRandom / changes)),
    row('fork', (f) => micros(f.fork), ...flat('fork')),
    row('checkpoint', (f) => micros(f.checkpoint), ...flat('checkpoint')),
    row(
      'diff of 1,000 changes, clustered',
      (f) => millis(f.diffClustered / 1000),
      ...doubled('diffClustered'),
    ),
    row('diff of 1,000 changes, random', (f) => millis(f.diffRandom / 1000)),
    row(
      'merge of 1,000 changes, clustered',
      (f) => millis(f.mergeClustered / 1000),
      ...doubled('mergeClustered'),
    ),
    row('merge of 1,000 changes, random', (f) => millis(f.mergeRandom / 1000)),
    row(
      'memory per file, all nodes loaded',
      (f) => `${f.bytesPerEntry.toFixed(0)} B`,
      '≤ 200 B',
      million.bytesPerEntry <= 200,
    ),
  ]
}

/** 50 directories with 20 files each: what an attempt at a bug touches. */
function clusteredFiles(tree: BigTree): number[] {
  const directories = Math.min(50, tree.directories)
  const step = Math.floor(tree.directories / directories) * 50
  const each = Math.ceil(changes / directories)
  return Array.from({ length: changes }, (_, i) => Math.floor(i / each) * step + (i % each)).map(
    (index) => index % tree.files,
  )
}

/** Spread over the whole tree by a fixed stride that shares no factor with its size. */
function randomFiles(tree: BigTree): number[] {
  return Array.from({ length: changes }, (_, i) => (i * 7919 * 31 + 17) % tree.files)
}

function newFiles(tree: BigTree): Op[] {
  const parent = tree.directory(tree.directories >> 1)
  return Array.from({ length: changes }, (_, i) =>
    tree.create(parent, `new-${i}.ts`, tree.freeIno + i),
  )
}

async function timeLookups(
  tree: BigTree,
  base: Snapshot,
): Promise<Pick<Figures, 'lookup' | 'inode'>> {
  const view = new TreeView(tree.stores.nodes, base)
  const files = randomFiles(tree)
  const places = files.map((index) => tree.place(index))
  const names = (): void => {
    for (const { parent, name } of places) view.child(parent, name)
  }
  const inodes = (): void => {
    for (const index of files) view.inode(tree.file(index))
  }
  await tree.stores.nodes.read(names)
  await tree.stores.nodes.read(inodes)
  return {
    lookup: (await timeEach(100, async () => names())) / files.length,
    inode: (await timeEach(100, async () => inodes())) / files.length,
  }
}

async function timeFold(tree: BigTree, base: Snapshot, ops: readonly Op[]): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < repeats; i++) {
    const fork = await tree.fork(base)
    await tree.submit(fork, ops)
    times.push(await time(() => fork.head.fold()))
  }
  return median(times)
}

async function timeCheckpoint(tree: BigTree): Promise<number> {
  let number = 0
  return timeEach(50, () =>
    makeCheckpoint(tree.stores, tree.branch, {
      id: `checkpoint-${++number}` as CheckpointId,
      label: 'bench',
      time: { sec: 0, nsec: 0 },
    }),
  )
}

async function changed(tree: BigTree, base: Snapshot, ops: readonly Op[]): Promise<Snapshot> {
  const fork = await tree.fork(base)
  await tree.submit(fork, ops)
  return (await fork.head.fold()).snapshot
}

async function timeDiff(tree: BigTree, base: Snapshot, files: readonly number[]): Promise<number> {
  const after = await changed(
    tree,
    base,
    files.flatMap((index) => tree.edit(index, 3)),
  )
  return timeEach(repeats, () => diffPaths(tree.stores.nodes, base, after))
}

async function timeMerge(tree: BigTree, base: Snapshot, files: readonly number[]): Promise<number> {
  const { nodes, blobs } = tree.stores
  const layer = await changed(
    tree,
    base,
    files.flatMap((index) => tree.edit(index, 4)),
  )
  const target = await changed(tree, base, newFiles(tree).slice(0, 1))
  return timeEach(repeats, async () => {
    const { type } = await merge({ nodes, blobs, base, layer, target })
    if (type !== 'merged') throw new Error('the benchmark expects no conflict')
  })
}

/** A second cache over the same store is filled; what the process grew by is its cost. */
async function memoryPerEntry(tree: BigTree, base: Snapshot): Promise<number> {
  const store = {
    get: async (hash: Hash) => (await tree.stores.nodes.load(hash)).bytes.slice(),
    put: async () => {},
  }
  const before = usedBytes()
  const nodes = new Nodes({ store, hash: sha256, cacheBytesMax: 2 ** 33 })
  const view = new TreeView(nodes, base)
  for (let index = 0; index < tree.files; index += 10)
    await nodes.read(() => view.child(tree.place(index).parent, tree.place(index).name))
  for (let ino = 1; ino < tree.freeIno; ino += 10) await nodes.read(() => view.inode(ino as Ino))
  const bytes = usedBytes() - before
  // The cache has to outlive the measurement.
  if (nodes.peek(base.root) === undefined) throw new Error('the root is not loaded')
  return bytes / tree.files
}

function usedBytes(): number {
  globalThis.gc?.()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

async function timeEach(count: number, work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let i = 0; i < count; i++) times.push(await time(work))
  return median(times)
}

/** Microseconds. */
async function time(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await work()
  return (performance.now() - start) * 1000
}
