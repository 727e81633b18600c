import { type IncomingMessage, request as send, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Jail } from '../../jail/jail.ts'
import { ApiError } from '../api-error.ts'

export interface PortTarget {
  readonly jail: Jail
  readonly port: number
  /** What the program inside shall see as Host, if not what was asked for. */
  readonly maskHost: string | undefined
}

/** Passes a request on to a port in the sandbox. Headers keep their spelling: some programs care. */
export async function proxyRequest(
  target: PortTarget,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const socket = await open(target)
  await new Promise<void>((resolve) => {
    const inner = send({
      createConnection: () => socket,
      method: request.method,
      path: request.url,
      headers: headersFor(target, request) as unknown as string[],
      setHost: false,
    })
    const cut = (): void => {
      if (!response.headersSent) {
        response.writeHead(502).end()
      } else response.destroy()
      resolve()
    }
    inner.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.rawHeaders)
      answer.pipe(response)
      answer.on('error', cut)
    })
    inner.on('error', cut)
    response.on('close', () => {
      socket.destroy()
      resolve()
    })
    request.pipe(inner)
  })
}

/** A WebSocket, or whatever else two sides agree on: after the head, bytes in both directions. */
export async function proxyUpgrade(
  target: PortTarget,
  request: IncomingMessage,
  outer: Duplex,
  head: Buffer,
): Promise<Duplex> {
  const socket = await open(target)
  const headers = headersFor(target, request)
  const lines = [`${request.method} ${request.url} HTTP/1.1`]
  for (let index = 0; index < headers.length; index += 2)
    lines.push(`${headers[index]}: ${headers[index + 1]}`)
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.write(head)
  const end = (): void => {
    socket.destroy()
    outer.destroy()
  }
  for (const side of [socket, outer]) side.on('error', end).on('close', end)
  socket.pipe(outer).pipe(socket)
  return socket
}

async function open({ jail, port }: PortTarget): Promise<Duplex> {
  try {
    return await jail.connect(port)
  } catch (error) {
    throw new ApiError(502, `nothing listens on port ${port} of the sandbox (${String(error)})`)
  }
}

/** These headers are ours, and programs inside must not see the token. */
const ours = new Set(['e2b-sandbox-id', 'e2b-sandbox-port', 'e2b-traffic-access-token'])

function headersFor({ maskHost, port }: PortTarget, { rawHeaders }: IncomingMessage): string[] {
  const kept: string[] = []
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? ''
    const value = rawHeaders[index + 1] ?? ''
    if (ours.has(name.toLowerCase())) continue
    const isMasked = maskHost !== undefined && name.toLowerCase() === 'host'
    kept.push(name, isMasked ? maskHost.replaceAll('${PORT}', String(port)) : value)
  }
  return kept
}
