import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import type { Op } from '@cairn/core'
import { connectWebSocket, SessionClient } from '@cairn/mount'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { noMount, Site } from '../mount/fixture.ts'
import { CrowdReader } from './crowd-reader.ts'
import { median, millis, printTable, type Row } from './table.ts'

const crowds = (process.env['CAIRN_BENCH_SESSIONS'] ?? '10,100,1000').split(',').map(Number)
const realMounts = 2
const puts = 60
const putEveryMs = 50
const active = 200
const rounds = 10

/** What a server does for many clients at once: readers of one branch, and attempts that have a layer each. */
export async function benchCrowd(): Promise<void> {
  const readers = await onNewSite(async (site) => {
    const rows: Row[] = []
    for (const count of crowds) rows.push(await besideReaders(site, count))
    return rows
  })
  const columns = ['PUT p50', 'p99', 'visible p99', 'CPU for 1,000 events', 'for each reader']
  printTable('crowd: readers of one branch, small PUTs through HTTP', columns, readers)
  const layers = await onNewSite(async (site) => {
    const rows: Row[] = []
    for (const count of crowds) rows.push(...(await onLayers(site, count)))
    return rows
  })
  const layerColumns = ['ops/s', 'write p50', 'p99', 'CPU for 1,000 writes', 'memory for each']
  printTable('crowd: sessions with a layer each', layerColumns, layers)
}

async function onNewSite(measure: (site: Site) => Promise<Row[]>): Promise<Row[]> {
  const site = await Site.open()
  try {
    return await measure(site)
  } finally {
    await site.close()
  }
}

/** Some of them are real mounts, where there can be one. The last are closed before the next crowd comes. */
async function besideReaders(site: Site, count: number): Promise<Row> {
  const mounts = noMount === undefined ? realMounts : 0
  const mounted = await Promise.all(
    Array.from({ length: mounts }, () => site.mount('/', '--read-only')),
  )
  const readers = await CrowdReader.openAll(site, count - mounts)
  await put(site, 'warm')
  await setTimeout(500)
  const begin = cpuMs(site)
  const times: number[] = []
  const seen: number[] = []
  for (let n = 0; n < puts; n++) {
    const startedAt = performance.now()
    for (const reader of readers) reader.expect()
    await put(site, `${count}-${n}`)
    times.push(performance.now() - startedAt)
    await setTimeout(putEveryMs)
    for (const reader of readers) seen.push(await reader.arrival(startedAt))
  }
  const cpu = (cpuMs(site) - begin) / puts
  for (const reader of readers) reader.close()
  await Promise.all(mounted.map((mount) => mount.unmount()))
  const isMet = median(times) <= 10 && p99(seen) <= 150
  const each = `${((cpu * 1000) / count).toFixed(1)} µs`
  const figures = [median(times), p99(times), p99(seen)].map(millis)
  const row = { work: `${count} readers`, figures: [...figures, seconds(cpu), each] }
  return count === 1000 ? { ...row, aim: 'p50 ≤ 10 ms, visible ≤ 150 ms', met: isMet } : row
}

async function put(site: Site, name: string): Promise<void> {
  const url = `${site.url}/v1/workspaces/demo/files/crowd/${name}`
  const { ok } = await fetch(url, { method: 'PUT', headers: auth(site), body: 'text' })
  if (!ok) throw new Error('cannot write through HTTP')
}

async function onLayers(site: Site, count: number): Promise<Row[]> {
  const before = rssBytes(site)
  const sessions: SessionClient[] = []
  for (let n = 0; n < count; n++) sessions.push(await openLayer(site, `crowd-${count}-${n}`))
  const memory = (rssBytes(site) - before) / count
  const writers = sessions.slice(0, active)
  const all = await writeAll(site, writers, 0)
  const paced = await writeAll(site, writers, 1000)
  await Promise.all(sessions.map((session) => session.close()))
  const row = (work: string, { rate, times, cpu }: Written, isPaced: boolean): Row => ({
    work,
    figures: [
      rate.toFixed(0),
      ...[median(times), p99(times)].map(millis),
      seconds(cpu),
      `${(memory / 1024).toFixed(0)} KiB`,
    ],
    ...(isPaced && writers.length === active ? { aim: 'p99 ≤ 50 ms', met: p99(times) <= 50 } : {}),
  })
  return [
    row(`${count} sessions, ${writers.length} write all the time`, all, false),
    row(`${count} sessions, ${writers.length} write once a second`, paced, true),
  ]
}

interface Written {
  readonly rate: number
  readonly times: readonly number[]
  /** Milliseconds of server CPU for each write. */
  readonly cpu: number
}

async function writeAll(
  site: Site,
  writers: readonly SessionClient[],
  everyMs: number,
): Promise<Written> {
  const times: number[] = []
  const [begin, cpu] = [performance.now(), cpuMs(site)]
  await Promise.all(
    writers.map(async (session, index) => {
      await setTimeout((index / writers.length) * everyMs)
      for (let round = 0; round < rounds; round++) {
        const startedAt = performance.now()
        await session.submit(newFile(), time)
        times.push(performance.now() - startedAt)
        await setTimeout(Math.max(0, startedAt + everyMs - performance.now()))
      }
    }),
  )
  const rate = times.length / ((performance.now() - begin) / 1000)
  return { rate, times, cpu: (cpuMs(site) - cpu) / times.length }
}

async function openLayer(site: Site, name: string): Promise<SessionClient> {
  const { ok } = await fetch(`${site.url}/v1/workspaces/demo/layers`, {
    method: 'POST',
    headers: { ...auth(site), 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  if (!ok) throw new Error('cannot make a layer')
  const session = new SessionClient({
    connect: connectWebSocket(site.url, site.key),
    clock: { sleep: (ms) => setTimeout(ms, undefined, { ref: false }) },
    workspace: 'demo',
    branch: name,
    mode: 'share',
    startsAtHead: true,
  }).start()
  while (session.standing === 'waiting') await setTimeout(1)
  return session
}

const time = { sec: 1_790_000_000, nsec: 0 }
let lastIno = 10_000_000

function newFile(): Op[] {
  const ino = ++lastIno as Ino
  const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  const data = { type: 'bytes', bytes: new Uint8Array(1024) } as const
  const name = `f${ino}` as Name
  return [
    { type: 'create', time, parent: rootIno, name, ino, kind: 'file', ...owner },
    { type: 'write', time, ino, offset: 0, data, dropPrivileges: false },
  ]
}

function auth(site: Site): { authorization: string } {
  return { authorization: `Bearer ${site.key}` }
}

const msPerTick = 10

/** What the server has used, by its own threads. */
function cpuMs(site: Site): number {
  const stat = readFileSync(`/proc/${site.serverPid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * msPerTick
}

function rssBytes(site: Site): number {
  const status = readFileSync(`/proc/${site.serverPid}/status`, 'utf8')
  return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) * 1024
}

function p99(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
}

function seconds(ms: number): string {
  return `${ms.toFixed(1)} s`
}
