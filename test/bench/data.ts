import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { noMount, Site, type SiteMount } from '../mount/fixture.ts'
import {
  cpuSeconds,
  objectRequests,
  type Place,
  startPlainServer,
  transfer,
  type Transfer,
} from './data/beside.ts'
import { drain } from './mount/drain.ts'
import { settleDisk } from './mount/programs.ts'
import { printTable, type Row } from './table.ts'

const execute = promisify(execFile)
const mebibytes = Number(process.env['CAIRN_BENCH_MIB'] ?? 256)
const bytes = mebibytes * 2 ** 20

const columns = ['MB/s', 'yardstick', 'ratio', 'client CPU', 'server CPU', 'requests/GiB']

/**
 * One large file of new bytes that no compressor makes smaller: over HTTP beside a plain server in Node, and through a mount beside
 * the disk and a plain download. CAIRN_BENCH_MIB says how large.
 */
export async function benchData(): Promise<void> {
  const site = await Site.open()
  try {
    const source = join(site.directory, 'source')
    makeFile(source)
    const rows = [...(await overHttp(site, source)), ...(await throughMounts(site, source))]
    printTable(`data: ${mebibytes} MiB, CPU in seconds`, columns, rows)
  } finally {
    await site.close()
  }
}

async function overHttp(site: Site, source: string): Promise<Row[]> {
  const plain = await startPlainServer(join(site.directory, 'plain'))
  const own: Place = { ...placeOf(site), url: `${site.url}/v1/workspaces/demo/files/large.bin` }
  const rows: Row[] = []
  try {
    for (const [how, aim] of [
      ['put', 0.8],
      ['get', 0.6],
    ] as const) {
      await settleDisk(site.directory)
      const beside = await transfer(how, plain, source, bytes)
      await settleDisk(site.directory)
      const before = await objectRequests(site)
      const measured = await transfer(how, own, source, bytes)
      const after = await objectRequests(site)
      const work = `${how.toUpperCase()}, beside plain node:http`
      rows.push(rowOf(work, measured, beside.seconds, { aim, requests: after[how] - before[how] }))
    }
  } finally {
    plain.process.disconnect()
  }
  return rows
}

async function throughMounts(site: Site, source: string): Promise<Row[]> {
  if (noMount !== undefined) return [{ work: `mount: skipped, ${noMount}`, figures: [] }]
  const writer = await site.mount('/')
  const [local, name] = [join(site.directory, 'local'), 'through-mount.bin']
  // Other bytes than those over HTTP: the store must not have them yet.
  makeFile(source)
  await settleDisk(site.directory)
  const disk = await timed(() => copy(source, local))
  await settleDisk(site.directory)
  const before = await objectRequests(site)
  const written = await withCpu(site, writer, async () => {
    await copy(source, writer.path(name))
  })
  const drained = await drain(writer)
  const after = await objectRequests(site)
  const plain = await startPlainServer(local)
  const download = await transfer('get', plain, source, bytes)
  plain.process.disconnect()
  const reader = await site.mount('/')
  const read = await withCpu(site, reader, () => execute('dd', ddRead(reader.path(name))))
  const end = await objectRequests(site)
  await execute('cmp', [source, reader.path(name)])
  return [
    rowOf(
      `write into a mount and fsync (drain ${drained.toFixed(1)} s), beside the disk`,
      written,
      disk,
      {
        aim: 0.5,
        requests: after.put - before.put,
      },
    ),
    rowOf('cold read on a new mount, beside plain node:http', read, download.seconds, {
      aim: 0.4,
      requests: end.get - after.get,
    }),
  ]
}

function placeOf(site: Site): Place {
  return { url: site.url, key: site.key, pid: site.serverPid }
}

/** The same call for both: dd syncs at the end. */
async function copy(from: string, to: string): Promise<void> {
  await execute('dd', [`if=${from}`, `of=${to}`, 'bs=1M', 'conv=fsync', 'status=none'])
}

function ddRead(path: string): string[] {
  return [`if=${path}`, 'of=/dev/null', 'bs=1M', 'status=none']
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const begin = performance.now()
  await work()
  return (performance.now() - begin) / 1000
}

async function withCpu(
  site: Site,
  mount: SiteMount,
  work: () => Promise<unknown>,
): Promise<Transfer> {
  const { daemon } = mount.processes()
  const [client, server] = [cpuSeconds(daemon), cpuSeconds(site.serverPid)]
  const seconds = await timed(work)
  return {
    seconds,
    clientCpu: cpuSeconds(daemon) - client,
    serverCpu: cpuSeconds(site.serverPid) - server,
  }
}

function rowOf(
  work: string,
  { seconds, clientCpu, serverCpu }: Transfer,
  yardstickSeconds: number,
  { aim, requests }: { readonly aim: number; readonly requests: number },
): Row {
  const ratio = yardstickSeconds / seconds
  return {
    work,
    figures: [
      rate(seconds),
      rate(yardstickSeconds),
      ratio.toFixed(2),
      clientCpu.toFixed(2),
      serverCpu.toFixed(2),
      ((requests / bytes) * 2 ** 30).toFixed(0),
    ],
    aim: `≥ ${aim}`,
    met: ratio >= aim,
  }
}

function rate(seconds: number): string {
  return (bytes / 1e6 / seconds).toFixed(0)
}

function makeFile(path: string): void {
  rmSync(path, { force: true })
  const fd = openSync(path, 'w')
  for (let i = 0; i < mebibytes; i++) writeSync(fd, randomBytes(1 << 20))
  closeSync(fd)
}
