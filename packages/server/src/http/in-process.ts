import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest, InjectOptions } from 'fastify'
import { addressOf } from './relayed.ts'

const withoutBody = [204, 304]

/** A `fetch` that goes into this server's own routes, from the address and to the host of a request that arrived. */
export function fetchInProcess(app: FastifyInstance, request: FastifyRequest): typeof fetch {
  const { headers } = request
  return async (input, init = {}) => {
    const { method = 'GET', body, signal } = init
    const url = new URL(input instanceof Request ? input.url : input)
    const answer = await app.inject({
      method: method as NonNullable<InjectOptions['method']>,
      url: url.pathname + url.search,
      headers: {
        ...(init.headers as Record<string, string>),
        ...(headers.host === undefined ? {} : { host: headers.host }),
      },
      ...(body === undefined || body === null ? {} : { payload: await payloadOf(body) }),
      remoteAddress: addressOf(request),
      payloadAsStream: true,
      ...(signal ? { signal } : {}),
    })
    const stream = withoutBody.includes(answer.statusCode)
      ? null
      : (Readable.toWeb(answer.stream()) as ReadableStream<Uint8Array>)
    return new Response(stream, {
      status: answer.statusCode,
      headers: Object.entries(answer.headers).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]),
    })
  }
}

async function payloadOf(
  body: ConstructorParameters<typeof Response>[0],
): Promise<Buffer | string> {
  if (typeof body === 'string') return body
  return Buffer.from(await new Response(body).arrayBuffer())
}
