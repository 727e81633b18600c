import { closeSync, fsyncSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Site, SiteMount } from '../../mount/fixture.ts'
import { wants } from '../mount/result.ts'
import type { Row } from '../table.ts'
import { besideIdleLoop, type Latencies, latency, next } from './timed.ts'

const files = 200
const text = Buffer.alloc(4096, 'x')

export const synchronousNames: readonly string[] = ['close-sync', 'fsync', 'same']

/** What a small file costs a program where the server has to have it, or to decide about it. */
export async function benchSynchronous(site: Site): Promise<Row[]> {
  const rows: Row[] = []
  const add = (work: string, runs: readonly Latencies[], mostMs: number): void => {
    for (const part of ['mean', 'p50', 'p99'] as const) {
      const { aim, met, ...measured } = latency(work, runs, { part, mostMs })
      // The aim is for a file among many.
      rows.push(part === 'mean' ? { ...measured, aim: aim!, met: met! } : measured)
    }
  }
  if (wants('close-sync'))
    add('close-sync, a small file', await alone(site, 'close-sync', closedFile), 1.5)
  if (wants('fsync')) add('fsync of a small file', await alone(site, 'auto', syncedFile), 1.5)
  if (wants('same')) add('two writers in one directory, a small file', await together(site), 3)
  return rows
}

async function alone(
  site: Site,
  durability: string,
  write: (path: string) => void,
): Promise<readonly Latencies[]> {
  const mount = await site.mount('/', '--durability', durability)
  const runs = await besideIdleLoop(async () => {
    const directory = mount.path(next('sync'))
    mkdirSync(directory)
    return Array.from({ length: files }, (_, n) => timeOf(() => write(`${directory}/${n}`)))
  })
  await mount.unmount()
  return runs
}

function closedFile(path: string): void {
  writeFileSync(path, text)
}

function syncedFile(path: string): void {
  const file = openSync(path, 'w')
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
}

function timeOf(work: () => void): number {
  const begin = performance.now()
  work()
  return performance.now() - begin
}

/** Each program waits for its mount, so each has a thread. */
async function together(site: Site): Promise<readonly Latencies[]> {
  const mounts = [await site.mount('/'), await site.mount('/')]
  const runs = await besideIdleLoop(async () => {
    const directory = next('same')
    mkdirSync(mounts[0]!.path(directory))
    const barrier = new Int32Array(new SharedArrayBuffer(4)).fill(mounts.length)
    const writers = mounts.map((mount) => writeFiles(mount, directory, barrier))
    return (await Promise.all(writers)).flat()
  })
  for (const mount of mounts) await mount.unmount()
  return runs
}

async function writeFiles(
  mount: SiteMount,
  directory: string,
  barrier: Int32Array,
): Promise<readonly number[]> {
  const thread = new Worker(new URL('small-files-thread.ts', import.meta.url), {
    workerData: { directory: mount.path(directory), prefix: next('w'), files, barrier },
  })
  const [times] = (await once(thread, 'message')) as [readonly number[]]
  await thread.terminate()
  return times
}
