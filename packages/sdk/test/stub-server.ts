import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: Buffer
}

/** What happens to one request. */
export type Answer = (response: ServerResponse, request: SeenRequest) => void

export interface Stub {
  readonly url: string
  readonly seen: readonly SeenRequest[]
  /** Resolves once so many requests have come. */
  readonly arrived: (count: number) => Promise<void>
}

/** A real server that gives the answers in their order, whatever it is asked; a function answers everything. */
export async function startStub(answers: readonly Answer[] | Answer): Promise<Stub> {
  const seen: SeenRequest[] = []
  const arrivals = new EventEmitter()
  const waiting = typeof answers === 'function' ? undefined : [...answers]
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const { method = '', url = '', headers } = request
      const whole = { method, url, headers, body: Buffer.concat(chunks) }
      seen.push(whole)
      arrivals.emit('request')
      const answer = waiting === undefined ? (answers as Answer) : waiting.shift()
      if (answer === undefined) response.writeHead(500).end('the stub has no answer left')
      else answer(response, whole)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  const { port } = server.address() as AddressInfo
  const arrived = async (count: number): Promise<void> => {
    while (seen.length < count) await once(arrivals, 'request')
  }
  return { url: `http://127.0.0.1:${port}`, seen, arrived }
}

export function json(value: unknown, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(status, headers).end(JSON.stringify(value))
}

export function bytes(content: string, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(status, headers).end(content)
}

/** Sends the beginning of a longer body, then cuts the connection. */
export function cutAfter(
  start: string,
  status = 200,
  headers: Record<string, string> = {},
): Answer {
  return (response) => {
    response.writeHead(status, { ...headers, 'content-length': '1000' })
    response.write(start, () => response.destroy())
  }
}

export const neverAnswers: Answer = () => {}

export function error(code: string, status: number, more: object = {}): Answer {
  const words = { what: 'do it', reason: code, hint: 'Do it so.' }
  const body = { code, ...words, message: `cannot do it: ${code}. Do it so.`, retry: 'never' }
  return json({ error: { ...body, requestId: 'request-1', ...more } }, status)
}
