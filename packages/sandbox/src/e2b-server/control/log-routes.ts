import { ApiError, notFound } from '../api-error.ts'
import { sendJson } from '../http.ts'
import type { LogLevel, SandboxLogEntry } from '../logs/sandbox-log.ts'
import type { ControlRequest, ControlRoutes, Handler } from './route.ts'

const entriesMax = 1000
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error']

/** As the newer clients ask: from a time on or back from it, by level and by a part of the message. */
const logs: Handler = async (call) => {
  const query = call.url.searchParams
  const least = levels.indexOf((query.get('level') ?? 'debug') as LogLevel)
  if (least < 0) throw new ApiError(400, `level must be one of ${levels.join(', ')}`)
  const search = query.get('search') ?? ''
  const found = (await entriesOf(call)).filter(
    ({ level, message }) => levels.indexOf(level) >= least && message.includes(search),
  )
  const isBackward = query.get('direction') === 'backward'
  const cursor = numberIn(query, 'cursor', isBackward ? Infinity : 0)
  const limit = numberIn(query, 'limit', entriesMax)
  const page = isBackward
    ? found.filter((entry) => timeOf(entry) <= cursor).toReversed()
    : found.filter((entry) => timeOf(entry) >= cursor)
  sendJson(call.response, 200, { logs: page.slice(0, limit) })
}

/** As E2B's command line asks. It reads each line as JSON. */
const oldLogs: Handler = async (call) => {
  const query = call.url.searchParams
  const start = numberIn(query, 'start', 0)
  const logEntries = (await entriesOf(call))
    .filter((entry) => timeOf(entry) >= start)
    .slice(0, numberIn(query, 'limit', entriesMax))
  const lines = logEntries.map(({ timestamp, level, message, fields }) => ({
    timestamp,
    line: JSON.stringify({ ...fields, level, message }),
  }))
  sendJson(call.response, 200, { logs: lines, logEntries })
}

async function entriesOf({ control, params }: ControlRequest): Promise<SandboxLogEntry[]> {
  const id = (params['id'] ?? '').split('-')[0] ?? ''
  const log = await control.logs.find(id)
  if (log === undefined) throw notFound(`sandbox "${id}"`)
  return log.read()
}

function timeOf({ timestamp }: SandboxLogEntry): number {
  return Date.parse(timestamp)
}

function numberIn(query: URLSearchParams, name: string, unlessGiven: number): number {
  const text = query.get(name)
  if (text === null) return unlessGiven
  const number = Number(text)
  if (Number.isInteger(number) && number >= 0) return number
  throw new ApiError(400, `${name} must be a whole number`)
}

export const logRoutes: ControlRoutes = {
  'GET /sandboxes/{id}/logs': oldLogs,
  'GET /v2/sandboxes/{id}/logs': logs,
}
