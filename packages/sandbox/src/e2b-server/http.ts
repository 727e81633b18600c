import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from './api-error.ts'

type Fields = Readonly<Record<string, unknown>>

const bodyBytesMax = 8 << 20

export function sendJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const body = Buffer.from(JSON.stringify(value))
  response.writeHead(status, {
    'content-type': 'application/json',
    'content-length': body.length,
    ...headers,
  })
  response.end(body)
}

/** The length is told: the SDK reads a body of unknown length as JSON, and an empty one is none. */
export function sendNothing(response: ServerResponse, status = 204): void {
  response.writeHead(status, status === 204 ? {} : { 'content-length': 0 })
  response.end()
}

export function sendError(response: ServerResponse, status: number, message: string): void {
  if (response.headersSent) response.destroy()
  else sendJson(response, status, { code: status, message })
}

/** An object; an empty body is an empty one. */
export async function readJson(request: IncomingMessage): Promise<Fields> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyBytesMax) throw new ApiError(413, 'the body is too large')
    parts.push(part)
  }
  if (size === 0) return {}
  try {
    const value: unknown = JSON.parse(Buffer.concat(parts).toString())
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  } catch {
    // Told below, with everything else that is no object.
  }
  throw new ApiError(400, 'the body is not a JSON object')
}
