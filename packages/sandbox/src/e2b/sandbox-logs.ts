import { setTimeout as wait } from 'node:timers/promises'
import type { components } from 'e2b'
import { connectE2B, type E2BConnection } from './connect.ts'

type E2BLogEntry = components['schemas']['SandboxLogEntry']

const pageMax = 1000
const everyMs = 1000

/** What is kept of a sandbox, oldest first; it may have ended. The SDK itself has no method for it. */
export async function* readSandboxLogs(
  connection: E2BConnection,
  id: string,
): AsyncGenerator<E2BLogEntry> {
  yield* pagesFrom(await openLogs(connection, id), { cursor: 0 })
}

/** The same, and then what comes, until the sandbox ends. */
export async function* followSandboxLogs(
  connection: E2BConnection,
  id: string,
  signal: AbortSignal,
): AsyncGenerator<E2BLogEntry> {
  const ask = await openLogs(connection, id)
  const { Sandbox } = await connectE2B(connection)
  const place = { cursor: 0 }
  for (;;) {
    // Asked before the logs are: then the last entries are not missed.
    const lives = await Sandbox.getInfo(id).then(
      () => true,
      () => false,
    )
    yield* pagesFrom(ask, place)
    if (!lives || signal.aborted) return
    await wait(everyMs, undefined, { signal }).catch(() => undefined)
  }
}

type AskLogs = (cursor: number) => Promise<readonly E2BLogEntry[]>

async function openLogs({ apiKey, url }: E2BConnection, id: string): Promise<AskLogs> {
  const { ApiClient, ConnectionConfig, SandboxNotFoundError } = await import('e2b')
  const config = new ConnectionConfig({ apiKey, ...(url && { apiUrl: url }) })
  const { api } = new ApiClient(config)
  return async (cursor) => {
    const query = { cursor, limit: pageMax, direction: 'forward' } as const
    const params = { path: { sandboxID: id }, query }
    const { data, response } = await api.GET('/v2/sandboxes/{sandboxID}/logs', { params })
    if (response.status === 404) throw new SandboxNotFoundError(`there is no log of ${id}`)
    if (data === undefined) throw new Error(`the server answered ${response.status}`)
    return data.logs
  }
}

/** Keeps in `place` where to go on. */
async function* pagesFrom(ask: AskLogs, place: { cursor: number }): AsyncGenerator<E2BLogEntry> {
  for (;;) {
    const entries = await ask(place.cursor)
    yield* entries
    const last = entries.at(-1)
    if (last !== undefined) place.cursor = Date.parse(last.timestamp) + 1
    if (entries.length < pageMax) return
  }
}
