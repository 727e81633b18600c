import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { OpenFile } from '../agent/agents.ts'
import { ApiError } from '../api-error.ts'
import type { EnvdCaller } from './caller.ts'

type Headers = Record<string, string | number>

export async function download(
  caller: EnvdCaller,
  url: URL,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const file = await caller.machine.agents.open(
    await caller.resolve(url.searchParams.get('path') ?? ''),
  )
  try {
    await send(file, request, response)
  } catch (error) {
    file.close()
    throw error
  }
}

async function send(
  file: OpenFile,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const headers: Headers = {
    'content-type': 'application/octet-stream',
    'content-disposition': 'inline',
    vary: 'Accept-Encoding',
    'accept-ranges': 'bytes',
    'last-modified': new Date(Number(BigInt(file.mtimeNs) / 1_000_000n)).toUTCString(),
  }
  const { range, 'if-modified-since': since } = request.headers
  if (since !== undefined && Date.parse(since) >= Date.parse(String(headers['last-modified']))) {
    file.close()
    response.writeHead(304, headers).end()
    return
  }
  const part = parseRange(range, file.size)
  if (part !== undefined) {
    const last = part.start + part.length - 1
    headers['content-range'] = `bytes ${part.start}-${last}/${file.size}`
    await sendPlain(file, part, response, 206, headers)
  } else if (since === undefined && accepts(request, 'gzip')) {
    response.writeHead(200, { ...headers, 'content-encoding': 'gzip' })
    await pipeline(Readable.from(file.read(0, file.size)), createGzip({ level: 1 }), response)
  } else if (accepts(request, 'identity')) {
    await sendPlain(file, { start: 0, length: file.size }, response, 200, headers)
  } else throw new ApiError(406, 'the file can be sent as gzip or as it is')
}

interface Part {
  readonly start: number
  readonly length: number
}

async function sendPlain(
  file: OpenFile,
  { start, length }: Part,
  response: ServerResponse,
  status: number,
  headers: Headers,
): Promise<void> {
  response.writeHead(status, { ...headers, 'content-length': length })
  if (length === 0) {
    file.close()
    response.end()
    return
  }
  await pipeline(Readable.from(file.read(start, length)), response)
}

/** One range; several, or one that makes no sense, are answered with the whole, as HTTP allows. */
function parseRange(header: string | undefined, size: number): Part | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '')
  if (match === null || (match[1] === '' && match[2] === '')) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1)
  if (start >= size || end < start) throw new ApiError(416, 'the range lies outside the file')
  return { start, length: end - start + 1 }
}

function accepts({ headers }: IncomingMessage, encoding: 'gzip' | 'identity'): boolean {
  const weights = new Map<string, number>()
  for (const each of String(headers['accept-encoding'] ?? '').split(',')) {
    const [name = '', weight = ''] = each.trim().split(/;\s*q=/)
    weights.set(name.toLowerCase(), weight === '' ? 1 : Number(weight))
  }
  const other = weights.get('*')
  const weight = weights.get(encoding) ?? other
  return encoding === 'gzip' ? (weight ?? 0) > 0 : weight !== 0
}
