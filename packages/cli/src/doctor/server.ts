import { connectWebSocket } from '@cairn/mount'
import type { Cli } from '../cli.ts'
import {
  type ConnectionValues,
  type ApiCredentials,
  findCredentials,
} from '../context/credentials.ts'
import { formatDuration } from '../output/format.ts'
import { type Check, fail, ok, warn } from './check.ts'

const patienceMs = 5000
/** The header tells whole seconds, and the way takes its time. */
const skewMsMax = 5000

/** Whether the server can be reached, takes the key, and has the same time. */
export async function checkServer(cli: Cli, values: ConnectionValues): Promise<Check[]> {
  let credentials: ApiCredentials
  try {
    credentials = await findCredentials(cli, values)
  } catch {
    return [
      warn(
        'server',
        'none is known',
        'cairn serve, or cairn ctx add --name NAME --server URL --api-key-file FILE',
      ),
    ]
  }
  const { server } = credentials
  const answer = await ask(cli, credentials).catch((error: unknown) => error as Error)
  if (answer instanceof Error)
    return [
      fail(
        'server',
        `${server} cannot be reached: ${reasonOf(answer)}`,
        'cairn serve, or check the address: cairn ctx show',
      ),
    ]
  return [
    ok('server', server),
    checkKey(answer, credentials),
    ...checkClock(answer),
    ...(answer.ok ? [await checkSessions(credentials)] : []),
  ]
}

function ask(cli: Cli, { server, apiKey }: ApiCredentials): Promise<Response> {
  return fetch(`${server.replace(/\/+$/, '')}/v1/workspaces?limit=1`, {
    headers: { authorization: `Bearer ${apiKey}` },
    signal: AbortSignal.any([cli.signal, AbortSignal.timeout(patienceMs)]),
  })
}

function reasonOf({ cause, message }: Error): string {
  const { code } = (cause ?? {}) as NodeJS.ErrnoException
  return code ?? message
}

function checkKey({ ok: isTaken, status }: Response, { source }: ApiCredentials): Check {
  if (isTaken) return ok('key', `from ${source}`)
  return status === 401
    ? fail(
        'key',
        `the one from ${source} is not valid`,
        'cairn ctx add --name NAME --server URL --api-key-file FILE',
      )
    : fail('key', `the server answers ${status}`, 'cairn ctx show: is that a cairn server?')
}

function checkClock({ headers }: Response): Check[] {
  const date = Date.parse(headers.get('date') ?? '')
  if (Number.isNaN(date)) return []
  const skewMs = Date.now() - date
  if (Math.abs(skewMs) <= skewMsMax) return [ok('clock', "the server's")]
  const how = `${formatDuration(Math.abs(skewMs) / 1000)} ${skewMs > 0 ? 'ahead of' : 'behind'} the server`
  return [
    warn(
      'clock',
      `${how}: tools that compare times of files are misled`,
      'sudo timedatectl set-ntp true',
    ),
  ]
}

/** Mounts need a WebSocket, which not everything between here and there lets through. */
async function checkSessions({ server, apiKey }: ApiCredentials): Promise<Check> {
  try {
    const connect = connectWebSocket(server, apiKey, { heartbeatMs: patienceMs / 3 })
    const wire = await connect({ onReply: () => undefined, onClose: () => undefined })
    wire.close()
    return ok('sessions', 'can be opened')
  } catch (error) {
    const fix = 'let WebSockets through to /v1/sessions in the proxy before it'
    return fail('sessions', reasonOf(error as Error), fix)
  }
}
