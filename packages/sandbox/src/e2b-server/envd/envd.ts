import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from '../api-error.ts'
import { RpcError } from '../connect/rpc-error.ts'
import { sendUnaryError, serveRpc } from '../connect/service.ts'
import { sendJson, sendNothing } from '../http.ts'
import { EnvdCaller, userOfHeader } from './caller.ts'
import { serveFiles } from './files.ts'
import { filesystemService } from './filesystem-service.ts'
import type { Machine } from './machine.ts'
import { processService } from './process-service.ts'
import { isEqual, whyNotSigned } from './signature.ts'

const services = {
  'process.Process': processService,
  'filesystem.Filesystem': filesystemService,
} as const

export interface EnvdTarget {
  readonly machine: Machine
  readonly accessToken: string
}

/** Port 49983 of a sandbox: what E2B runs inside, we run beside it. */
export async function serveEnvd(
  { machine, accessToken }: EnvdTarget,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname, searchParams } = url
  if (pathname === '/health') return sendNothing(response)
  const isFiles = pathname === '/files' || pathname.startsWith('/files/')
  const why = whyNotAllowed(request, isFiles ? searchParams : undefined, accessToken)
  if (why !== undefined) return refuse(request, response, why)
  const [, service = '', method = ''] = pathname.split('/')
  if (isFiles) {
    const user = searchParams.get('username') ?? userOfHeader(request.headers.authorization)
    return serveFiles(new EnvdCaller(machine, user), url, request, response)
  }
  if (Object.hasOwn(services, service) && request.method === 'POST') {
    const caller = new EnvdCaller(machine, userOfHeader(request.headers.authorization))
    const table = services[service as keyof typeof services]
    return serveRpc(table, method, request, response, caller)
  }
  if (pathname === '/envs') return sendJson(response, 200, machine.settings.env)
  throw new ApiError(404, 'there is no such route')
}

/** In E2B's words. */
function whyNotAllowed(
  { headers, method }: IncomingMessage,
  query: URLSearchParams | undefined,
  accessToken: string,
): string | undefined {
  const token = headers['x-access-token']
  if (token !== undefined && isEqual(String(token), accessToken)) return undefined
  if (query === undefined)
    return 'unauthorized access, please provide a valid access token or method signing if supported'
  if (token !== undefined) return 'access token present in header but does not match'
  return whyNotSigned(query, method === 'POST' ? 'write' : 'read', accessToken, Date.now())
}

function refuse(request: IncomingMessage, response: ServerResponse, message: string): void {
  request.resume()
  if (request.headers['content-type']?.includes('json') && request.url?.includes('.'))
    sendUnaryError(response, new RpcError('unauthenticated', message))
  else sendJson(response, 401, { code: 401, message })
}
