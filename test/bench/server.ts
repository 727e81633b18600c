import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import type { Op } from '@cairn/core'
import { connectWebSocket, SessionClient } from '@cairn/mount'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { askProcess, type Running, startServer, stopServer } from './running-server.ts'
import { median, millis, printTable, type Row } from './table.ts'

const contentBytes = 1024
const opsPerBatch = 128
const batchesOnTheWay = 8

/** Each on a server of its own: what one leaves in the process must not count against the next. */
export async function benchServer(): Promise<void> {
  const data = await mkdtemp(join(tmpdir(), 'cairn-bench-'))
  try {
    const rows: Row[] = []
    for (const measure of [smallWrites, latencies, manySessions, memory]) {
      const begin = performance.now()
      rows.push(...(await onNewServer(join(data, measure.name), measure)))
      const seconds = (performance.now() - begin) / 1000
      console.error(`server: ${measure.name} took ${seconds.toFixed(0)} s`)
    }
    printTable('server: embedded stores, in a process of its own', ['measured', 'yardstick'], rows)
  } finally {
    await rm(data, { recursive: true })
  }
}

async function onNewServer(
  data: string,
  measure: (server: Running, data: string) => Promise<Row[]>,
): Promise<Row[]> {
  await mkdir(data)
  const server = await startServer(join(data, 'server'))
  try {
    await call(server, 'POST', '', JSON.stringify({ name: 'w' }))
    return await measure(server, data)
  } finally {
    await stopServer(server)
  }
}

function call(server: Running, method: string, path: string, body?: string): Promise<Response> {
  return fetch(`${server.url}/v1/workspaces${path}`, {
    method,
    headers: { authorization: `Bearer ${server.key}` },
    ...(body === undefined ? {} : { body, duplex: 'half' }),
  } as RequestInit)
}

function open(server: Running, onBatch?: (bytes: Uint8Array) => void): SessionClient {
  return new SessionClient({
    connect: connectWebSocket(server.url, server.key),
    clock: { sleep: (ms) => setTimeout(ms, undefined, { ref: false }) },
    workspace: 'w',
    branch: 'main',
    mode: 'write',
    // Hundreds of sessions that each read the whole log first would measure that.
    startsAtHead: true,
  }).start(onBatch ? { onBatch } : {})
}

async function ready(session: SessionClient): Promise<void> {
  while (session.standing === 'waiting') await setTimeout(5)
}

let lastIno = 10_000_000
const content = new Uint8Array(contentBytes).fill(7)

/** A new small file: two operations. */
function newFile(parent: Ino, name: string): Op[] {
  const ino = ++lastIno as Ino
  const time = { sec: 1_790_000_000, nsec: lastIno % 1e9 }
  const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  const data = { type: 'bytes', bytes: content } as const
  return [
    { type: 'create', time, parent, name: name as Name, ino, kind: 'file', ...owner },
    { type: 'write', time, ino, offset: 0, data, dropPrivileges: false },
  ]
}

function newDirectory(name: string): Extract<Op, { type: 'create' }> {
  const ino = ++lastIno as Ino
  const time = { sec: 1_790_000_000, nsec: 0 }
  const owner = { mode: 0o755, uid: 0, gid: 0, rdev: 0, target: undefined }
  return {
    type: 'create',
    time,
    parent: rootIno,
    name: name as Name,
    ino,
    kind: 'directory',
    ...owner,
  }
}

/** Writes that many files in batches, several on the way at once; gives operations a second. */
async function writeFiles(
  session: SessionClient,
  directory: string,
  files: number,
): Promise<number> {
  const parent = newDirectory(directory)
  await session.submit([parent], parent.time)
  const onTheWay = new Set<Promise<unknown>>()
  const begin = performance.now()
  for (let at = 0; at < files; at += opsPerBatch / 2) {
    const ops = Array.from({ length: opsPerBatch / 2 }, (_, i) =>
      newFile(parent.ino, `f${at + i}`),
    ).flat()
    const sent = session.submit(ops, parent.time, session.standing === 'lease')
    const settled: Promise<unknown> = sent.finally(() => onTheWay.delete(settled))
    onTheWay.add(settled)
    if (onTheWay.size >= batchesOnTheWay) await Promise.race(onTheWay)
  }
  await Promise.all(onTheWay)
  return (files * 2) / ((performance.now() - begin) / 1000)
}

async function smallWrites(server: Running, data: string): Promise<Row[]> {
  const session = open(server)
  await ready(session)
  await writeFiles(session, 'warm', 5000)
  const rates: number[] = []
  const raw: number[] = []
  for (let i = 0; i < 3; i++) {
    raw.push(rawInserts(join(data, `raw-${i}.db`)))
    rates.push(await writeFiles(session, `measured-${i}`, 20_000))
  }
  await session.close()
  const [rate, yardstick] = [median(rates), median(raw)]
  return [
    {
      work: 'small files through one session, ops/s',
      figures: [rate.toFixed(0), `${yardstick.toFixed(0)} rows/s`],
      aim: `≥ 20k and ≥ 0.3 of it: ${(rate / yardstick).toFixed(2)}`,
      met: rate >= 20_000 && rate / yardstick >= 0.3,
    },
  ]
}

/** What SQLite itself does with rows of that size, 64 in a transaction, each synced. */
function rawInserts(path: string): number {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE log (seq INTEGER PRIMARY KEY, bytes BLOB)')
  const insert = database.prepare('INSERT INTO log (bytes) VALUES (?)')
  const count = 64 * 300
  const begin = performance.now()
  for (let at = 0; at < count; at += 64) {
    database.exec('BEGIN')
    for (let i = 0; i < 64; i++) insert.run(content)
    database.exec('COMMIT')
  }
  const rate = count / ((performance.now() - begin) / 1000)
  database.close()
  return rate
}

async function latencies(server: Running): Promise<Row[]> {
  const reader = open(server, (bytes) => arrivals.push([bytes.length, performance.now()]))
  const arrivals: [number, number][] = []
  const writer = open(server)
  await ready(writer)
  await ready(reader)
  const directory = newDirectory('latency')
  await writer.submit([directory], directory.time)
  const acknowledged: number[] = []
  const visible: number[] = []
  for (let i = 0; i < 500; i++) {
    const before = arrivals.length
    const begin = performance.now()
    await writer.submit(newFile(directory.ino, `f${i}`), directory.time)
    acknowledged.push(performance.now() - begin)
    while (arrivals.length === before) await setTimeout(1)
    visible.push(arrivals[before]![1] - begin)
  }
  await Promise.all([writer.close(), reader.close()])
  const p99 = [...visible].sort((a, b) => a - b)[Math.floor(visible.length * 0.99)]!
  return [
    {
      work: 'one acknowledged operation, p50',
      figures: [millis(median(acknowledged))],
      aim: '≤ 2 ms',
      met: median(acknowledged) <= 2,
    },
    {
      work: 'written by one session, seen by another, p99',
      figures: [millis(p99)],
      aim: '≤ 100 ms',
      met: p99 <= 100,
    },
  ]
}

async function manySessions(server: Running): Promise<Row[]> {
  const idle = Array.from({ length: 200 }, () => open(server))
  const writers = Array.from({ length: 20 }, () => open(server))
  await Promise.all([...idle, ...writers].map(ready))
  const begin = performance.now()
  const rates = await Promise.all(writers.map((writer, i) => writeFiles(writer, `many-${i}`, 640)))
  const seconds = (performance.now() - begin) / 1000
  const ops = rates.length * 640 * 2
  await Promise.all([...idle, ...writers].map((session) => session.close()))
  return [
    { work: '200 idle sessions and 20 that write, ops/s', figures: [(ops / seconds).toFixed(0)] },
  ]
}

async function memory(server: Running): Promise<Row[]> {
  const session = open(server)
  await ready(session)
  const files = Number(process.env['CAIRN_BENCH_FILES'] ?? 1_000_000)
  for (let at = 0; at < files; at += 10_000) await writeFiles(session, `million-${at}`, 10_000)
  await session.close()
  const usage = await askProcess<NodeJS.MemoryUsage>(server, 'memory')
  const { rss, heapUsed, external } = usage
  const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`
  return [
    {
      work: `memory after ${files} files were written`,
      figures: [mebibytes(rss), `heap ${mebibytes(heapUsed)}, buffers ${mebibytes(external)}`],
      aim: '≤ 1 GB',
      met: rss <= 1e9,
    },
  ]
}
