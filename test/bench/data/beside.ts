import { type ChildProcess, execFile, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const execute = promisify(execFile)
const ticksPerSecond = 100

export interface Transfer {
  readonly seconds: number
  /** CPU seconds of the client, and of the server meanwhile. */
  readonly clientCpu: number
  readonly serverCpu: number
}

/** Where a file is put and got. */
export interface Place {
  readonly url: string
  readonly key: string
  readonly pid: number
}

/** One transfer by the bare client, which is the same for every server. */
export async function transfer(
  how: 'put' | 'get',
  { url, key, pid }: Place,
  path: string,
  bytes: number,
): Promise<Transfer> {
  const program = fileURLToPath(new URL('client-child.ts', import.meta.url))
  const begin = cpuSeconds(pid)
  const { stdout } = await execute(process.execPath, [program, how, url, key, path])
  const measured = JSON.parse(stdout) as { seconds: number; cpu: number; bytes: number }
  if (measured.bytes !== bytes) throw new Error(`${measured.bytes} of ${bytes} bytes came`)
  const { seconds, cpu } = measured
  return { seconds, clientCpu: cpu, serverCpu: cpuSeconds(pid) - begin }
}

/** User and system time of a process, all threads together. */
export function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

export interface PlainServer extends Place {
  readonly process: ChildProcess
}

export async function startPlainServer(path: string): Promise<PlainServer> {
  const child = fork(new URL('plain-child.ts', import.meta.url), [path])
  const [url] = (await once(child, 'message')) as [string]
  return { url, key: '', pid: child.pid!, process: child }
}

/** How often the object store was asked so far, by the server's own count. */
export async function objectRequests({
  url,
  key,
}: Pick<Place, 'url' | 'key'>): Promise<Record<'put' | 'get', number>> {
  const headers = { authorization: `Bearer ${key}` }
  const answer = await fetch(new URL('/metrics', url), { headers })
  if (!answer.ok) throw new Error(await answer.text())
  const text = await answer.text()
  const sums = { put: 0, get: 0 }
  for (const line of text.split('\n')) {
    const found = /^cairn_store_seconds_count\{(.*)\} (\d+)/.exec(line)
    if (!found || !found[1]!.includes('store="objects"')) continue
    for (const how of ['put', 'get'] as const)
      if (found[1]!.includes(`operation="${how}"`)) sums[how] += Number(found[2])
  }
  return sums
}
