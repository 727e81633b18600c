import { createHash, type Hash } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Body } from './body.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** A hash of what the request asks for; undefined without an Idempotency-Key. Whole once the body has been read. */
    print: (() => string) | undefined
    printing: Hash | undefined
  }
}

/** Headers that change what a request does. */
const deciding = ['if-match', 'if-none-match', 'content-range'] as const

/** A key stands for one request; its print tells another request apart. */
export function printRequests(app: FastifyInstance): void {
  app.decorateRequest('print', undefined)
  app.decorateRequest('printing', undefined)
  app.addHook('onRequest', async (request) => {
    const { method, originalUrl, headers } = request
    if (headers['idempotency-key'] === undefined) return
    const hash = createHash('sha256')
    hash.update(
      JSON.stringify([method, originalUrl, deciding.map((name) => headers[name] ?? null)]),
    )
    request.printing = hash
    request.print = () => hash.copy().digest('base64url')
  })
}

/** The body as it comes, noted on the way. */
export async function* printed(
  { printing }: FastifyRequest,
  body: Body,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    printing?.update(chunk)
    yield chunk
  }
}
