import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { ApiError } from './api-error.ts'
import { serveEnvd } from './envd/envd.ts'
import { isEqual, isSigned } from './envd/signature.ts'
import { sendJson } from './http.ts'
import { type DataTarget, envdPort } from './plane.ts'
import { type PortTarget, proxyRequest, proxyUpgrade } from './ports/port-proxy.ts'
import type { HostedSandbox } from './sandboxes/hosted-sandbox.ts'
import type { Sandboxes } from './sandboxes/sandboxes.ts'

/** What is asked of a sandbox, not of the server. */
export class DataPlane {
  readonly #sandboxes: Sandboxes

  constructor(sandboxes: Sandboxes) {
    this.#sandboxes = sandboxes
  }

  /** A signed address on the shared port names no sandbox: it is the one whose token signed it. */
  findSigned(url: URL, method: string): DataTarget | undefined {
    if (url.pathname !== '/files') return undefined
    const operation = method === 'POST' ? 'write' : 'read'
    const found = this.#sandboxes
      .all()
      .find(({ record }) => isSigned(url.searchParams, operation, record.accessToken))
    return found === undefined ? undefined : { sandboxId: found.record.id, port: envdPort }
  }

  async serve(
    target: DataTarget,
    url: URL,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    try {
      const sandbox = this.#allowed(target, request)
      // Before its machine is asked for: one that is being killed cuts this off, too.
      const untrack = sandbox.track(request.socket)
      response.on('close', untrack)
      const machine = await sandbox.machine()
      const { accessToken } = sandbox.record
      if (target.port === envdPort)
        await serveEnvd({ machine, accessToken }, url, request, response)
      else await proxyRequest(portOf(target, sandbox, machine.jail), request, response)
    } catch (error) {
      if (!(error instanceof ApiError) || response.headersSent) throw error
      sendGone(response, target, error)
    }
  }

  async upgrade(
    target: DataTarget,
    request: IncomingMessage,
    socket: Duplex,
    head: Buffer,
  ): Promise<void> {
    const sandbox = this.#allowed(target, request)
    if (target.port === envdPort) throw new ApiError(400, 'envd takes no upgrades')
    const untrack = sandbox.track(socket)
    socket.on('close', untrack)
    const { jail } = await sandbox.machine()
    await proxyUpgrade(portOf(target, sandbox, jail), request, socket, head)
  }

  #allowed({ sandboxId, port }: DataTarget, { headers }: IncomingMessage): HostedSandbox {
    const sandbox = this.#sandboxes.find(sandboxId)
    if (sandbox === undefined) throw new ApiError(502, 'the sandbox was not found')
    const { trafficToken, accessToken } = sandbox.record
    if (port !== envdPort) {
      const given = String(headers['e2b-traffic-access-token'] ?? '')
      if (trafficToken !== undefined && !isEqual(given, trafficToken))
        throw new ApiError(403, 'the sandbox wants the header e2b-traffic-access-token')
    } else if (sandbox.record.state === 'paused') {
      // Only those who may use it may wake it.
      const token = headers['x-access-token']
      if (token !== undefined && !isEqual(String(token), accessToken))
        throw new ApiError(401, 'the access token is wrong')
    }
    return sandbox
  }
}

function portOf(
  { port }: DataTarget,
  { record }: HostedSandbox,
  jail: PortTarget['jail'],
): PortTarget {
  return { jail, port, maskHost: record.network.maskRequestHost }
}

function sendGone(response: ServerResponse, target: DataTarget, error: ApiError): void {
  const { status, message } = error
  const named = status === 502 || status === 403 ? { sandboxId: target.sandboxId } : {}
  const port = status === 502 && target.port !== envdPort ? { port: target.port } : {}
  sendJson(response, status, { ...named, ...port, message, code: status })
}
