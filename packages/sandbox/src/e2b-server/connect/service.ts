import type { IncomingMessage, ServerResponse } from 'node:http'
import { roomIn } from '../room.ts'
import { decodeMessages, encodeEnd, encodeMessage } from './framing.ts'
import { RpcError, toRpcError } from './rpc-error.ts'

type Fields = Readonly<Record<string, unknown>>

/** A call as a method sees it. */
export interface RpcCall<Context> {
  readonly context: Context
  /** How long the caller lets the thing live; undefined without a limit. */
  readonly timeoutMs: number | undefined
  readonly keepaliveMs: number
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal
}

export type Unary<Context> = (request: Fields, call: RpcCall<Context>) => Promise<object>
/** Resolves when the stream is at its end. `send` resolves when the caller can take more, or is gone. */
export type ServerStream<Context> = (
  request: Fields,
  send: (message: object) => Promise<void>,
  call: RpcCall<Context>,
) => Promise<void>
export type ClientStream<Context> = (
  requests: AsyncIterable<Fields>,
  call: RpcCall<Context>,
) => Promise<object>

export interface Service<Context> {
  readonly unary: Readonly<Record<string, Unary<Context>>>
  readonly serverStream?: Readonly<Record<string, ServerStream<Context>>>
  readonly clientStream?: Readonly<Record<string, ClientStream<Context>>>
}

const bodyBytesMax = 16 << 20
const keepaliveDefaultMs = 90_000

/** Answers one call of `/<package>.<Service>/<Method>`. */
export async function serveRpc<Context>(
  service: Service<Context>,
  method: string,
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): Promise<void> {
  const call = callOf(request, response, context)
  const serverStream = ownOf(service.serverStream, method)
  const clientStream = ownOf(service.clientStream, method)
  const unary = ownOf(service.unary, method)
  if (serverStream !== undefined) await serveStream(serverStream, request, response, call)
  else if (clientStream !== undefined)
    await serveClientStream(clientStream, request, response, call)
  else if (unary !== undefined) await serveUnary(unary, request, response, call)
  else sendUnaryError(response, new RpcError('unimplemented', `there is no method ${method}`))
}

/** What every object inherits, such as `constructor`, is no method of ours. */
function ownOf<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table && Object.hasOwn(table, name) ? table[name] : undefined
}

function callOf<Context>(
  request: IncomingMessage,
  response: ServerResponse,
  context: Context,
): RpcCall<Context> {
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const timeout = Number(request.headers['connect-timeout-ms'])
  const keepalive = Number(request.headers['keepalive-ping-interval'])
  return {
    context,
    timeoutMs: timeout > 0 ? timeout : undefined,
    keepaliveMs: keepalive > 0 ? keepalive * 1000 : keepaliveDefaultMs,
    signal: gone.signal,
  }
}

async function serveUnary<Context>(
  method: Unary<Context>,
  request: IncomingMessage,
  response: ServerResponse,
  call: RpcCall<Context>,
): Promise<void> {
  try {
    const body = await readBytes(request)
    const fields = body.length === 0 ? {} : parseFields(body)
    const result = Buffer.from(JSON.stringify(await method(fields, call)))
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': result.length })
    response.end(result)
  } catch (error) {
    sendUnaryError(response, toRpcError(error))
  }
}

export function sendUnaryError(response: ServerResponse, error: RpcError): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const body = Buffer.from(JSON.stringify({ code: error.code, message: error.message }))
  response.writeHead(error.status, {
    'content-type': 'application/json',
    'content-length': body.length,
  })
  response.end(body)
}

async function serveStream<Context>(
  method: ServerStream<Context>,
  request: IncomingMessage,
  response: ServerResponse,
  call: RpcCall<Context>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  let lastSent = performance.now()
  const send = async (message: object): Promise<void> => {
    lastSent = performance.now()
    if (response.writableEnded || response.destroyed) return
    if (!response.write(encodeMessage(message))) await roomIn(response)
  }
  const keepalive = setInterval(() => {
    if (performance.now() - lastSent >= call.keepaliveMs - 50) void send(keepaliveOf(request))
  }, call.keepaliveMs)
  try {
    await method(await firstOf(request), send, call)
    response.end(encodeEnd())
  } catch (error) {
    response.end(encodeEnd(toRpcError(error)))
  } finally {
    clearInterval(keepalive)
  }
}

/** Process streams wrap their events once more than directory watches do. */
function keepaliveOf({ url }: IncomingMessage): object {
  return url?.startsWith('/process.') ? { event: { keepalive: {} } } : { keepalive: {} }
}

async function firstOf(request: IncomingMessage): Promise<Fields> {
  for await (const message of decodeMessages(bodyOf(request))) {
    request.resume()
    return message as Fields
  }
  throw new RpcError('invalid_argument', 'the request has no message')
}

async function serveClientStream<Context>(
  method: ClientStream<Context>,
  request: IncomingMessage,
  response: ServerResponse,
  call: RpcCall<Context>,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/connect+json' })
  try {
    const result = await method(decodeMessages(bodyOf(request)) as AsyncIterable<Fields>, call)
    response.end(Buffer.concat([encodeMessage(result), encodeEnd()]))
  } catch (error) {
    response.end(encodeEnd(toRpcError(error)))
  }
}

/** Leaving the loop must not destroy the socket, on which the answer has yet to go. */
function bodyOf(request: IncomingMessage): AsyncIterable<Buffer> {
  return { [Symbol.asyncIterator]: () => request.iterator({ destroyOnReturn: false }) }
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > bodyBytesMax) throw new RpcError('resource_exhausted', 'the request is too large')
    parts.push(part)
  }
  return Buffer.concat(parts)
}

function parseFields(body: Buffer): Fields {
  try {
    return JSON.parse(body.toString()) as Fields
  } catch {
    throw new RpcError('invalid_argument', 'the request is not JSON')
  }
}
