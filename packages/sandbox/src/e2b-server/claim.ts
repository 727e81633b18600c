import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A server that runs, as others on the machine find it. */
export interface RunningE2BServer {
  readonly url: string
  readonly apiKey: string
  readonly pid: number
  /** When the process started: its number may be reused. */
  readonly startedAt: string
}

const fileOf = (data: string): string => join(data, 'server.json')

/** The server that works on this data, if one does. */
export async function findRunningServer(data: string): Promise<RunningE2BServer | undefined> {
  const text = await readFile(fileOf(data), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const server = JSON.parse(text) as RunningE2BServer
  return startOf(server.pid) === server.startedAt ? server : undefined
}

/** Refuses data that another server works on: each would remove what the other makes. */
export async function assertUnclaimed(data: string): Promise<void> {
  const other = await findRunningServer(data)
  if (other !== undefined)
    throw new Error(
      `cannot use ${data}: the server at ${other.url} (process ${other.pid}) does. Stop it, or give other data.`,
    )
}

/** Says that it is ours. Gives what takes that back. */
export async function claim(
  data: string,
  server: Pick<RunningE2BServer, 'url' | 'apiKey'>,
): Promise<() => Promise<void>> {
  const { pid } = process
  const row: RunningE2BServer = { ...server, pid, startedAt: startOf(pid) ?? '' }
  await writeFile(fileOf(data), `${JSON.stringify(row)}\n`, { mode: 0o600 })
  return () => rm(fileOf(data), { force: true })
}

/** The key of the data: the next server takes the same, so that programs need not be told anew. */
export async function ensureApiKey(data: string): Promise<string> {
  const path = join(data, 'api-key')
  const key = `e2b_${randomBytes(20).toString('hex')}`
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(`${key}\n`)
    } finally {
      await file.close()
    }
    return key
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    return (await readFile(path, 'utf8')).trim()
  }
}

/** When a process began, as the kernel counts; undefined where there is none. */
function startOf(pid: number): string | undefined {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name before the last bracket may hold anything, blanks too.
    return fields.slice(fields.lastIndexOf(')') + 2).split(' ')[19]
  } catch {
    return undefined
  }
}
