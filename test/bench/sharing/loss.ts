import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { decodeSentBatch, type Op } from '@cairn/core'
import { connectWebSocket } from '@cairn/mount'
import { type Ino, sessionVersion } from '@cairn/protocol'
import { keyFile } from '@cairn/server/testing/key-file'
import type { Site, SiteMount } from '../../mount/fixture.ts'
import { drain } from '../mount/drain.ts'
import { millis, type Row } from '../table.ts'
import { makeRepository } from './repository.ts'
import { next, percentile, rounds } from './timed.ts'

/** How long each way to the server takes. */
const wayMs = 5
const copies = 3

/** What the loss of a sandbox would cost a program that is busy, where the server is elsewhere. */
export async function benchLoss(site: Site): Promise<Row[]> {
  const tarball = makeTarball(site)
  const proxy = new Worker(new URL('slow-proxy-thread.ts', import.meta.url), {
    workerData: { server: site.url, wayMs },
  })
  const [host] = (await once(proxy, 'message')) as [string]
  const here = await site.mount('/')
  // By its name this server is on another machine.
  const key = keyFile(site.key)
  const elsewhere = await site.mount('/', '--server', `http://${host}`, '--api-key-file', key)
  const log = await LogReader.open(site)
  const [near, far] = [
    await unpack(site, here, tarball, log),
    await unpack(site, elsewhere, tarball, log),
  ]
  await proxy.terminate()
  const aims = { p50: 100, p99: 250 } as const
  return [
    ...(['p50', 'p99'] as const).map((part) => {
      const [nearMs, ms] = [near, far].map(({ ages }) => percentile(ages, part)) as [number, number]
      const figures = [millis(nearMs), millis(ms)]
      const work = `tar x, ${2 * wayMs} ms away: a file's last write to the server, ${part}`
      return { work, figures, aim: `≤ ${aims[part]} ms`, met: ms <= aims[part] }
    }),
    { work: 'that tar x itself', figures: ratio(near.ms, far.ms) },
    { work: 'processor time of the server for it', figures: ratio(near.cpuMs, far.cpuMs) },
  ]
}

function ratio(alone: number, ms: number): string[] {
  return [millis(alone), millis(ms), `${(ms / alone).toFixed(2)} ×`]
}

function makeTarball(site: Site): string {
  const source = makeRepository(site)
  const tarball = join(site.directory, 'tree.tar')
  execFileSync('git', ['archive', '-o', tarball, 'HEAD'], { cwd: source })
  return tarball
}

interface Unpacked {
  /** From the last write of each file to its arrival, in the run that took the shortest time. */
  readonly ages: readonly number[]
  readonly ms: number
  readonly cpuMs: number
}

async function unpack(
  site: Site,
  mount: SiteMount,
  tarball: string,
  log: LogReader,
): Promise<Unpacked> {
  const runs: Unpacked[] = []
  for (let round = 0; round < rounds; round++) {
    const directory = next('tar')
    mkdirSync(mount.path(directory))
    await drain(mount)
    log.begin()
    const [cpuMs, begin] = [cpuOf(site), performance.now()]
    for (let copy = 0; copy < copies; copy++)
      await mount.sh(`mkdir ${directory}/${copy}; tar xf ${tarball} -C ${directory}/${copy}`)
    const ms = performance.now() - begin
    await drain(mount)
    runs.push({ ages: log.ages(), ms, cpuMs: cpuOf(site) - cpuMs })
  }
  return runs.toSorted((a, b) => a.ms - b.ms)[0]!
}

/** User and system time, in milliseconds. */
function cpuOf({ serverPid }: Site): number {
  const [, fields = ''] = readFileSync(`/proc/${serverPid}/stat`, 'utf8').split(') ')
  const [user, system] = fields.split(' ').slice(11, 13).map(Number)
  return (user! + system!) * 10
}

/** Notes when each write comes into the log. */
class LogReader {
  readonly #ages = new Map<Ino, number>()

  static async open(site: Site): Promise<LogReader> {
    const reader = new LogReader()
    const welcomed = Promise.withResolvers<void>()
    const wire = await connectWebSocket(
      site.url,
      site.key,
    )({
      onReply: (reply) => {
        if (reply.type === 'welcome') welcomed.resolve()
        if (reply.type === 'batch') reader.#note(reply.bytes)
      },
      onClose: () => undefined,
    })
    wire.send({
      type: 'hello',
      version: sessionVersion,
      workspace: 'demo',
      branch: 'main',
      mode: 'read',
      session: '',
      seq: Number.MAX_SAFE_INTEGER,
      path: '',
    })
    await welcomed.promise
    return reader
  }

  #note(bytes: Uint8Array): void {
    const nowMs = performance.timeOrigin + performance.now()
    const { body } = decodeSentBatch(bytes)
    if (body.type === 'ops') for (const op of body.ops) this.#noteWrite(op, nowMs)
  }

  #noteWrite(op: Op, nowMs: number): void {
    if (op.type !== 'write') return
    this.#ages.set(op.ino, nowMs - (op.time.sec * 1000 + op.time.nsec / 1e6))
  }

  begin(): void {
    this.#ages.clear()
  }

  ages(): readonly number[] {
    return [...this.#ages.values()]
  }
}
